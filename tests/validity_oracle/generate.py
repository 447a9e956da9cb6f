"""Histories as they are sent, valid and broken, each with the verdict of oracle.py: one JSON object a line.

    generate.py SEED CASES_FOR_EACH_PROFILE

The first line holds the limits for images; they are small, so that a history that breaks them is too.
"""

import copy
import json
import random
import sys

import oracle

LIMITS = {"max_images": 3, "max_image_bytes": 40}
SETS = [("openai", p) for p in oracle.RULES] + [("anthropic", p) for p in ("anthropic", "anthropic_thinking")]


# ---- valid histories, as steps of calls with results


class Writer:
    """Writes the events of a session in one of the two shapes."""

    def __init__(self, dice, shape, in_order=False):
        self.dice, self.shape, self.messages, self.calls = dice, shape, [], 0
        self.in_order = in_order  # results come in the order of their calls

    def user(self, text="do it"):
        content = text
        if self.dice.random() < 0.2:
            content = [{"type": "text", "text": text}] + ([self.image()] if self.dice.random() < 0.5 else [])
        self.messages.append({"role": "user", "content": content})

    def image(self, size=16):
        if self.shape == "openai":
            return {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * size}}
        return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * size}}

    def reply(self, text="done"):
        self.messages.append({"role": "assistant", "content": text})

    def step(self, thinks, answered=None):
        names = [f"call_{self.calls + n}" for n in range(self.dice.choice([1, 1, 2, 3]))]
        self.calls += len(names)
        says = self.dice.random() < 0.3
        (self.openai_step if self.shape == "openai" else self.anthropic_step)(names, thinks, says)
        order = names if self.in_order else self.dice.sample(names, len(names))
        self.results(order if answered is None else order[:answered])

    def openai_step(self, names, thinks, says):
        message = {"role": "assistant", "content": "let me see" if says else None}
        if thinks:
            message["reasoning_content"] = "hm"
        message["tool_calls"] = [{"id": n, "type": "function", "function": {"name": "ls", "arguments": '{"path":"."}'}}
                                 for n in names]
        self.messages.append(message)

    def anthropic_step(self, names, thinks, says):
        blocks = [{"type": "thinking", "thinking": "hm", "signature": "s"}] if thinks else []
        if thinks and self.dice.random() < 0.2:
            blocks = [{"type": "redacted_thinking", "data": "x"}]
        blocks += [{"type": "text", "text": "let me see"}] if says else []
        blocks += [{"type": "tool_use", "id": n, "name": "ls", "input": {"path": "."}} for n in names]
        self.messages.append({"role": "assistant", "content": blocks})

    def result_content(self):
        if self.dice.random() < 0.8:
            return self.dice.choice(["out", "out", ""])
        return [{"type": "text", "text": "out"}] * self.dice.choice([1, 2])

    def results(self, names):
        if self.shape == "openai":
            self.messages += [{"role": "tool", "tool_call_id": n, "content": self.result_content()} for n in names]
            return
        blocks = [{"type": "tool_result", "tool_use_id": n, "content": self.result_content()} for n in names]
        if blocks and self.dice.random() < 0.2:  # the server merges what a host sends one by one
            self.messages += [{"role": "user", "content": [b]} for b in blocks]
        elif blocks:
            self.messages.append({"role": "user", "content": blocks})


def valid_history(dice, shape, profile):
    w = Writer(dice, shape, in_order=profile == "gemini" and dice.random() < 0.9)
    if shape == "openai" and dice.random() < 0.5:
        w.messages.append({"role": "system", "content": "be brief"})
    turns = dice.choice([1, 1, 2, 3])
    for turn in range(turns):
        w.user()
        steps = dice.choice([0, 1, 1, 2, 3])
        for step in range(steps):
            is_open = turn == turns - 1 and step == steps - 1 and dice.random() < 0.3
            w.step(thinks=step == 0 or dice.random() < 0.4, answered=dice.choice([0, 1]) if is_open else None)
        if turn < turns - 1:
            w.reply()
        elif dice.random() < 0.2:
            w.reply()
            w.user("thanks")
    return w.messages


# ---- ways to break one: each takes (dice, shape, messages) and may do nothing


def indices(messages, wanted):
    return [i for i, m in enumerate(messages) if wanted(m)]


def any_of(dice, found):
    return dice.choice(found) if found else None


def is_step(m):
    return bool(oracle.calls_of(m)) or "tool_use" in oracle.kinds_of(m)


def is_answer(m):
    return m["role"] == "tool" or "tool_result" in oracle.kinds_of(m)


def pick(dice, messages, wanted):
    at = any_of(dice, indices(messages, wanted))
    return messages[at] if at is not None else None


def calls_in(m):
    return oracle.calls_of(m) or [b for b in oracle.blocks_of(m) if b["type"] == "tool_use"]


def set_id(m, old, new):
    """Renames a call or a result in a message."""
    for c in calls_in(m):
        if c["id"] == old:
            c["id"] = new
    if m.get("tool_call_id") == old:
        m["tool_call_id"] = new
    for b in oracle.blocks_of(m):
        if b.get("tool_use_id") == old:
            b["tool_use_id"] = new


def delete_message(dice, shape, messages):
    if messages:
        messages.pop(dice.randrange(len(messages)))


def repeat_message(dice, shape, messages):
    if messages:
        at = dice.randrange(len(messages))
        messages.insert(dice.randrange(len(messages) + 1), copy.deepcopy(messages[at]))


def move_message(dice, shape, messages):
    if messages:
        m = messages.pop(dice.randrange(len(messages)))
        messages.insert(dice.randrange(len(messages) + 1), m)


def truncate(dice, shape, messages):
    del messages[dice.randrange(len(messages) + 1):]


def drop_call(dice, shape, messages):
    m = pick(dice, messages, is_step)
    if m is None:
        return
    victim = dice.choice(calls_in(m))
    if shape == "openai":
        m["tool_calls"] = [c for c in m["tool_calls"] if c is not victim]
        if not m["tool_calls"]:
            del m["tool_calls"]
    else:
        m["content"] = [b for b in m["content"] if b is not victim]


def drop_answer(dice, shape, messages):
    at = any_of(dice, indices(messages, is_answer))
    if at is None:
        return
    m = messages[at]
    if m["role"] == "tool":
        messages.pop(at)
        return
    m["content"].remove(dice.choice([b for b in m["content"] if b["type"] == "tool_result"]))
    if not m["content"]:
        messages.pop(at)


def rename_call(dice, shape, messages):
    m = pick(dice, messages, is_step)
    if m is not None:
        set_id(m, dice.choice(calls_in(m))["id"], dice.choice(["stranger", "call_0", "call_1"]))


def rename_everywhere(dice, shape, messages):
    m = pick(dice, messages, is_step)
    if m is None:
        return
    old, new = dice.choice(calls_in(m))["id"], dice.choice(["a b", "", "call_0", "漢", "x" * 90])
    for each in messages:
        set_id(each, old, new)


def rename_answer(dice, shape, messages):
    m = pick(dice, messages, is_answer)
    if m is None:
        return
    old = m.get("tool_call_id") or next((b["tool_use_id"] for b in oracle.blocks_of(m) if "tool_use_id" in b), None)
    set_id(m, old, dice.choice(["stranger", "call_0", "call_1"]))


def break_arguments(dice, shape, messages):
    m = pick(dice, messages, is_step)
    if m is None:
        return
    call = dice.choice(calls_in(m))
    if shape == "openai":
        call["function"]["arguments"] = dice.choice(["", "[]", "1", '{"a":', "null"])
    else:
        call["input"] = dice.choice(["{}", [], 1, None])


def rename_tool(dice, shape, messages):
    m = pick(dice, messages, is_step)
    if m is None:
        return
    call = dice.choice(calls_in(m))
    holder = call["function"] if shape == "openai" else call
    holder["name"] = dice.choice(["", "no good", "a.b", "x" * 65, "x" * 129, "读"])


def set_text(dice, shape, messages):
    m = pick(dice, messages, lambda m: isinstance(m.get("content"), str) and m["role"] != "tool")
    if m is not None:
        m["content"] = dice.choice(["", " ", "\n\t", "fine"])


def add_text_block(dice, shape, messages):
    m = pick(dice, messages, lambda m: isinstance(m.get("content"), list) and m["role"] != "tool")
    if m is not None:
        m["content"].insert(dice.randrange(len(m["content"]) + 1), {"type": "text", "text": dice.choice(["", " ", "so"])})


def empty_message(dice, shape, messages):
    m = pick(dice, messages, lambda m: m["role"] in ("user", "assistant"))
    if m is not None:
        m["content"] = []
        m.pop("tool_calls", None)


def end_with(dice, shape, messages):
    messages.append({"role": "assistant", "content": dice.choice(["so", "so ", "so\n", " "])})


def begin_with_assistant(dice, shape, messages):
    at = 1 if messages and messages[0]["role"] == "system" else 0
    messages.insert(at, {"role": "assistant", "content": "hello"})


def insert_user(dice, shape, messages):
    messages.insert(dice.randrange(len(messages) + 1), {"role": "user", "content": "and?"})


def insert_reply(dice, shape, messages):
    messages.insert(dice.randrange(len(messages) + 1), {"role": "assistant", "content": "well"})


def insert_system(dice, shape, messages):
    if shape == "openai":
        messages.insert(dice.randrange(len(messages) + 1), {"role": "system", "content": "late"})


def insert_bare_tool(dice, shape, messages):
    if shape == "openai":
        at = any_of(dice, indices(messages, is_answer))
        messages.insert(len(messages) if at is None else at + 1, {"role": "tool"})


def user_says_more(dice, shape, messages):
    """After the calls, in front of the results."""
    at = any_of(dice, indices(messages, is_step))
    if at is not None:
        messages.insert(at + 1, {"role": "user", "content": "wait"})


def drop_users(dice, shape, messages):
    keep = [m for m in messages if m["role"] != "user" or is_answer(m)]
    messages[:] = keep


def open_session_goes_on(dice, shape, messages):
    w = Writer(dice, shape)
    w.calls = 900
    w.step(thinks=True, answered=0)
    w.user("never mind")
    messages.extend(w.messages)


def ask_again(dice, shape, messages):
    """A later step with the id of an earlier one."""
    w = Writer(dice, shape)
    w.step(thinks=True)
    messages.extend([{"role": "user", "content": "again"}] + w.messages)


def add_images(dice, shape, messages):
    m = pick(dice, messages, lambda m: m["role"] == "user" and not is_answer(m))
    if m is not None:
        w = Writer(dice, shape)
        m["content"] = [{"type": "text", "text": "look"}] + [w.image(dice.choice([16, 40, 44]))
                                                           for _ in range(dice.choice([1, 3, 4]))]


def image_in_result(dice, shape, messages):
    m = pick(dice, messages, is_answer)
    if m is None:
        return
    content = [{"type": "text", "text": "out"}, Writer(dice, shape).image()]
    if m["role"] == "tool":
        m["content"] = content
    else:
        next(b for b in m["content"] if b["type"] == "tool_result")["content"] = content


def drop_thinking(dice, shape, messages):
    m = pick(dice, messages, is_step)
    if m is None:
        return
    m.pop("reasoning_content", None)
    if isinstance(m.get("content"), list):
        m["content"] = [b for b in m["content"] if "thinking" not in b["type"]]


def move_thinking(dice, shape, messages):
    m = pick(dice, messages, is_step)
    if m is not None and shape == "anthropic":
        m["content"].append({"type": "thinking", "thinking": "hm", "signature": "s"})


def spoil_bytes(dice, shape, messages):
    at = any_of(dice, indices(messages, lambda m: m["role"] in ("user", "tool")))
    if at is None:
        return
    text = json.dumps(messages[at], ensure_ascii=False)
    spoiled = json.loads(text.replace('"out"', '"o\u00ff"').replace('"do it"', '"\u00c3("').replace("漢", "x"))
    if all(ord(c) < 256 for s in oracle.strings_of(spoiled) for c in s):
        messages[at] = {oracle.RAW: spoiled}


MUTATIONS = [f for f in list(globals().values())
             if callable(f) and getattr(f, "__code__", None) and f.__code__.co_varnames[:3] == ("dice", "shape", "messages")]


def broken_history(dice, shape, profile):
    messages = valid_history(dice, shape, profile)
    chosen = [dice.choice(MUTATIONS) for _ in range(dice.choice([0, 1, 1, 1, 2, 3]))]
    for mutate in sorted(chosen, key=lambda f: f is spoil_bytes):
        if mutate is spoil_bytes and chosen.count(spoil_bytes) > 1:
            continue
        mutate(dice, shape, messages)
    return copy.deepcopy(messages)


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    dice = random.Random(seed)
    print(json.dumps({"limits": LIMITS}))
    for shape, profile in SETS:
        for _ in range(count):
            messages = broken_history(dice, shape, profile)
            print(json.dumps({"shape": shape, "profile": profile, "messages": messages,
                              "expected": oracle.judge(shape, profile, messages, LIMITS)}))


main()
