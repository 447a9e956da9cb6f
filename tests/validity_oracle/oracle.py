"""A second opinion on histories: the rules of the providers as state machines over the JSON that is sent.

Written from the providers' rules and not from the library's code, which checks a neutral view with tables of calls and
results. Here a request is walked once, as a server would read it: OpenAI's message by message, Anthropic's as turns that
the server has merged, Gemini's as contents. Every function yields (rule id, message index); the length of the list stands
for the whole list.
"""

import json
import re

SPACE = " \t\n\r\f\v"
RAW = "bytes_as_code_points"  # how a message with bytes that are not UTF-8 is written down

COMMON = {"G1", "G2", "G3", "G4", "G7", "G8"}
OPENAI = COMMON | {"OC1", "OC2", "OC3"}
COMPATIBLE = OPENAI | {"OC6.last_role", "OC6.alternation", "OC6.system_first", "OC6.text_only_results",
                       "OC6.user_turns"}
ANTHROPIC = COMMON | {"A1", "A1.system_first", "A2", "A3", "A4", "A5", "A5.prefill", "A10"}
RULES = {
    "openai_chat": OPENAI,
    "openai_compatible": COMPATIBLE,
    "anthropic": ANTHROPIC,
    "anthropic_thinking": ANTHROPIC | {"A6", "A7"},
    "gemini": COMMON | {"G11.images", "GM1", "GM2", "GM3", "GM6"},
}
NAME = {"openai": re.compile(r"[A-Za-z0-9_-]{1,64}\Z"), "anthropic": re.compile(r"[A-Za-z0-9_-]{1,128}\Z"),
        "gemini": re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}\Z")}


def unwrap(message):
    return message[RAW] if RAW in message else message


def strings_of(value):
    todo = [value]
    while todo:
        at = todo.pop()
        if isinstance(at, str):
            yield at
        elif isinstance(at, (list, dict)):
            todo.extend(at.values() if isinstance(at, dict) else at)


def check_bytes(messages):
    for i, message in enumerate(messages):
        if RAW not in message:
            continue
        for text in strings_of(message[RAW]):
            try:
                text.encode("latin-1").decode("utf-8")
            except UnicodeDecodeError:
                yield "G1", i


class Ledger:
    """Who owes whom: every call is a debt that the newest creditor with its id gets back first."""

    def __init__(self, newest_step):
        self.newest_step = newest_step
        self.open = {}  # id -> messages with unpaid calls, oldest first

    def call(self, name, i):
        if name in self.open:
            yield "G3", i
        self.open.setdefault(name, []).append(i)

    def result(self, name, i):
        debts = self.open.get(name)
        if not debts:
            yield "G2", i  # a stranger's, or paid twice
        else:
            debts.pop()

    def close(self):
        for debts in self.open.values():
            for i in debts:
                if i != self.newest_step:
                    yield "G2", i


# ---- OpenAI


def calls_of(message):
    return message.get("tool_calls") or []


def is_object(text):
    if not isinstance(text, str):
        return isinstance(text, dict)
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def newest_openai_step(messages):
    replies = [i for i, m in enumerate(messages) if m["role"] == "assistant"]
    return replies[-1] if replies and calls_of(messages[replies[-1]]) else None


def says_something(message):
    content = message.get("content") or []
    return bool(content) if isinstance(content, str) else any(item.get("text") != "" for item in content)


def check_openai(messages, names):
    newest = newest_openai_step(messages)
    ledger = Ledger(newest)
    window = None  # between a reply with calls and the first message that is no result: (its index, ids, ids answered)

    def close_window(at_end):
        if window is None:
            return
        step, asked, answered = window
        if asked - answered and not (at_end and step == newest):
            yield "OC1", step

    for i, m in enumerate(messages):
        role = m["role"]
        if role == "tool":
            name = m.get("tool_call_id", "")
            if "content" not in m:
                yield "OC2", i
                continue
            if window is None or name not in window[1]:
                yield "OC2", i
            else:
                window[2].add(name)
            yield from ledger.result(name, i)
            continue
        yield from close_window(at_end=False)
        window = None
        if role != "assistant":
            continue
        window = (i, {c.get("id", "") for c in calls_of(m)}, set())
        if not calls_of(m) and not says_something(m):
            yield "OC3", i
        for c in calls_of(m):
            yield from ledger.call(c.get("id", ""), i)
            yield from check_openai_call(c, i, names)
    yield from close_window(at_end=True)
    yield from ledger.close()
    if not any(m["role"] == "user" and ("content" in m and m["content"] not in (None, [])) for m in messages):
        yield "G7", len(messages)


def check_openai_call(call, i, names):
    function = call.get("function", {})
    if not names.match(function.get("name", "")) or not call.get("id"):
        yield "G8", i
    if not is_object(function.get("arguments", "")):
        yield "G4", i


def check_compatible(messages):
    speakers = [i for i, m in enumerate(messages) if m["role"] not in ("system", "developer")]
    if speakers and messages[speakers[0]]["role"] != "user":
        yield "OC6.alternation", speakers[0]
    if messages and messages[-1]["role"] not in ("user", "tool"):
        yield "OC6.last_role", len(messages) - 1
    for before, i in zip(speakers, speakers[1:]):
        if messages[i]["role"] == "user" and messages[before]["role"] in ("user", "tool"):
            yield "OC6.user_turns", i
    for i, m in enumerate(messages):
        if i > 0 and m["role"] in ("system", "developer"):
            yield "OC6.system_first", i
        if m["role"] == "tool" and isinstance(m.get("content"), list):
            if any(item["type"] == "image_url" for item in m["content"]):
                yield "OC6.text_only_results", i


# ---- Anthropic


def rendered(messages):
    """An OpenAI history as an adapter would send it to Anthropic, one message for one; system messages stay beside it."""
    out = []
    for m in messages:
        if m["role"] == "tool":
            blocks = []
            if "content" in m:
                blocks = [{"type": "tool_result", "tool_use_id": m.get("tool_call_id", ""), "content": m["content"]}]
            out.append({"role": "user", "content": blocks, "was_tool": True})
            continue
        blocks = []
        if "reasoning_content" in m:
            blocks.append({"type": "thinking", "thinking": m["reasoning_content"]})
        content = m.get("content")
        for item in [{"type": "text", "text": content}] if isinstance(content, str) else content or []:
            is_image = item["type"] == "image_url"
            blocks.append({"type": "image", "source": {"data": item["image_url"]["url"].partition(",")[2]}}
                          if is_image else item)
        for c in calls_of(m):
            text = c["function"].get("arguments", "")
            blocks.append({"type": "tool_use", "id": c.get("id", ""), "name": c["function"].get("name", ""),
                           "input": json.loads(text) if is_object(text) else None})
        out.append({"role": m["role"], "content": blocks})
    return out


def blocks_of(message):
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []


def kinds_of(message):
    return [b["type"] for b in blocks_of(message)]


def turns_of(messages):
    """Neighbours of one role, merged: [role, [(message, block), ...], [message, ...]]."""
    turns = []
    for i, m in enumerate(messages):
        if m["role"] == "system":
            continue
        if not turns or turns[-1][0] != m["role"]:
            turns.append([m["role"], [], []])
        turns[-1][1].extend((i, b) for b in blocks_of(m))
        turns[-1][2].append(i)
    return turns


def newest_anthropic_step(messages):
    replies = [i for i, m in enumerate(messages) if m["role"] == "assistant"]
    return replies[-1] if replies and "tool_use" in kinds_of(messages[replies[-1]]) else None


def is_still_running(messages, step):
    """Only results stand behind the step."""
    if step is None:
        return False
    return all(m.get("was_tool") or (m["role"] == "user" and kinds_of(m) and set(kinds_of(m)) == {"tool_result"})
               for m in messages[step + 1:])


def check_anthropic(messages, limits):
    newest = newest_anthropic_step(messages)
    running = newest if is_still_running(messages, newest) else None
    turns = turns_of(messages)
    if turns and turns[0][0] == "assistant":
        yield "A1", turns[0][2][0]
    yield from check_system(messages)
    ledger = Ledger(newest)
    for t, (role, blocks, _) in enumerate(turns):
        if role == "assistant":
            reply = turns[t + 1][1] if t + 1 < len(turns) else []
            answered = {b["tool_use_id"] for _, b in reply if b["type"] == "tool_result"}
            for i, b in blocks:
                if b["type"] != "tool_use":
                    continue
                yield from ledger.call(b.get("id", ""), i)
                if not NAME["anthropic"].match(b.get("name", "")) or not re.match(r"[A-Za-z0-9_-]+\Z", b.get("id", "")):
                    yield "G8", i
                if not isinstance(b.get("input"), dict):
                    yield "G4", i
                if b.get("id", "") not in answered and i != running:
                    yield "A2", i
        else:
            asked = {b.get("id", "") for _, b in turns[t - 1][1] if b["type"] == "tool_use"} if t > 0 else set()
            yield from check_user_turn(blocks, asked, ledger)
    yield from ledger.close()
    yield from check_words(messages)
    yield from check_images(messages, limits)
    if not any(m["role"] == "user" and not m.get("was_tool") and set(kinds_of(m)) - {"tool_result"} for m in messages):
        yield "G7", len(messages)


def check_user_turn(blocks, asked, ledger):
    has_spoken = False
    for i, b in blocks:
        if b["type"] != "tool_result":
            has_spoken = True
            continue
        if has_spoken:
            yield "A3", i
        if b["tool_use_id"] not in asked:
            yield "A4", i
        yield from ledger.result(b["tool_use_id"], i)


def check_system(messages):
    spoken = False
    for i, m in enumerate(messages):
        if m["role"] != "system":
            spoken = True
        elif spoken:
            yield "A1.system_first", i


def check_words(messages):
    last = len(messages) - 1
    for i, m in enumerate(messages):
        blocks = blocks_of(m)
        if m.get("was_tool"):
            if not blocks:
                yield "A4", i
            continue
        if not blocks and m["role"] != "system" and not (i == last and m["role"] == "assistant"):
            yield "A5", i
        if any(b["type"] == "text" and not b["text"].strip(SPACE) for b in blocks):
            yield "A5", i
    if messages and messages[last]["role"] == "assistant" and blocks_of(messages[last]):
        end = blocks_of(messages[last])[-1]
        if end["type"] == "text" and end["text"].strip(SPACE) and end["text"].rstrip(SPACE) != end["text"]:
            yield "A5.prefill", last


def images_of(messages):
    for i, m in enumerate(messages):
        for b in blocks_of(m):
            inner = b.get("content") if b["type"] == "tool_result" and isinstance(b.get("content"), list) else [b]
            for item in inner:
                if item["type"] == "image":
                    yield i, len(item["source"]["data"])
                elif item["type"] == "image_url":
                    yield i, len(item["image_url"]["url"].partition(",")[2])


def check_images(messages, limits):
    images = list(images_of(messages))
    if len(images) > limits["max_images"]:
        yield "A10", len(messages)
    for i, size in images:
        if size > limits["max_image_bytes"]:
            yield "A10", i


def check_thinking(messages):
    if newest_anthropic_step(messages) is None:
        return
    turns = turns_of(messages)
    while turns[-1][0] != "assistant":
        turns.pop()
    loop = []
    while turns:
        loop.insert(0, turns.pop())
        if len(turns) < 2 or "tool_result" not in {b["type"] for _, b in turns[-1][1]}:
            break
        turns.pop()  # the results between two steps
    first = loop[0][2][0]
    kinds = kinds_of(messages[first])
    if not kinds or kinds[0] not in ("thinking", "redacted_thinking"):
        yield "A7", first
    for _, blocks, _ in loop:
        has_called = False
        for i, b in blocks:
            has_called = has_called or b["type"] == "tool_use"
            if has_called and b["type"] in ("thinking", "redacted_thinking"):
                yield "A6", i


# ---- Gemini


def contents_of(messages):
    """Model, user and function contents, neighbours of one kind merged: [kind, [(message, calls or response), ...]]."""
    contents = []
    for i, m in enumerate(messages):
        kind = {"assistant": "model", "tool": "function"}.get(m["role"], m["role"])
        if kind == "system":
            continue
        if not contents or contents[-1][0] != kind:
            contents.append([kind, []])
        contents[-1][1].append((i, m))
    return contents


def check_gemini(messages, limits):
    newest = newest_openai_step(messages)
    is_running = newest is not None and all(m["role"] == "tool" for m in messages[newest + 1:])
    contents = contents_of(messages)
    if contents and contents[0][0] == "model":
        yield "GM1", contents[0][1][0][0]
        for i, m in contents[0][1]:
            if calls_of(m):
                yield "GM2", i
    if contents and contents[-1][0] == "model":
        yield "GM1", contents[-1][1][-1][0]
    asked = []
    for kind, turn in contents + [["end", []]]:
        if kind == "function":
            yield from check_responses(turn, asked)
        if kind != "model":
            yield from (("GM3", i) for i, _ in asked if not (is_running and i == newest))
            asked = []
        else:
            asked = [(i, c.get("id", "")) for i, m in turn for c in calls_of(m)]
    for i, m in enumerate(messages):
        texts = [b["text"] for b in blocks_of(m) if b["type"] == "text"]
        is_bare = not blocks_of(m) and not calls_of(m) and "reasoning_content" not in m
        is_result = m["role"] == "tool" and "content" in m
        if not is_result and (is_bare or "" in texts):
            yield "GM6", i
    for rule, i in check_images(messages, limits):
        yield "G11.images", i


def check_responses(turn, asked):
    """Takes out of `asked` what is answered; a response must answer a call, and no call in front of one answered."""
    order = list(asked)
    furthest = -1
    for i, m in turn:
        if "content" not in m:
            continue
        name = m.get("tool_call_id", "")
        call = next((a for a in asked if a[1] == name), None)
        if call is None:
            yield "GM3", i
            continue
        place = order.index(call)
        order[place] = None  # equal calls of one message are told apart by their place
        asked.remove(call)
        if place < furthest:
            yield "GM3", i
        furthest = max(furthest, place)


def judge(shape, profile, messages, limits):
    """Sorted [[rule id, message], ...], each pair once."""
    found = set(check_bytes(messages))
    plain = [unwrap(m) for m in messages]
    if profile.startswith("openai"):
        found |= set(check_openai(plain, NAME["openai"])) | set(check_compatible(plain))
        if profile == "openai_chat":
            found |= {("G8", i) for i, m in enumerate(plain) for c in calls_of(m) if len(c.get("id") or "") > 40}
    elif profile == "gemini":
        found |= set(check_openai(plain, NAME["gemini"])) | set(check_gemini(plain, limits))
    else:
        wire = rendered(plain) if shape == "openai" else plain
        found |= set(check_anthropic(wire, limits)) | set(check_thinking(wire))
    return sorted([rule, i] for rule, i in found if rule in RULES[profile])
