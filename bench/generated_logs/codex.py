"""Logs of Codex with what makes its bills hard: sums that are repeated, start anew or lose a record, forks and
sub-agents that begin with a copy of another session, archived copies, compactions."""

import json
import os
from datetime import datetime, timezone

from .ledger import Bill, Copy, Ledger, Usage, text_of
from .writing import FOLDERS, compact

NAME = "codex"
MODELS = ("gpt-5.3-codex", "gpt-5.1-codex-mini", "gpt-5.4")
ROOT = os.path.join(".codex", "sessions")
ARCHIVE = os.path.join(".codex", "archived_sessions")

REASONS = {
    "copies": "by session a call of a file that was copied to the archive counts in both",
    "burst": "a sub-agent's first call, whose record is written again within a second, is taken for a copy",
    "equal counts": "calls of equal time, model and counts in two files are one",
    "longest": "a call that a fork repeats counts with the original, ours in the one with its reply, or the longest",
    "lost count": "of a sum that grew by two calls, since a record is damaged, it takes the last one",
    "no sum": "calls that no sum holds, such as a compaction's own, are left out (`token_usage_record`)",
    "blanks": "it finds records only where no blank is behind a colon",
    "midnight": "a call counts at its record of tokens, ours at its reply",
}


def counts(usage, reasoning):
    """As the interface has it: the input holds what the cache did, the output what was thought."""
    whole = usage.input + usage.cache_read + usage.cache_write
    return {
        "input_tokens": whole,
        "cached_input_tokens": usage.cache_read,
        "cache_write_input_tokens": usage.cache_write,
        "output_tokens": usage.output,
        "reasoning_output_tokens": reasoning,
        "total_tokens": whole + usage.output,
    }


def session_of(path):
    root = ROOT if path.startswith(ROOT) else ARCHIVE
    return os.path.relpath(path, root).removesuffix(".jsonl")


def order_of(path):
    return (not path.startswith(ROOT), path)


class Call:
    """`usage`: what it was billed; `said`: what its record of tokens says, None where there is none that is read; `at`:
    when it was written."""

    def __init__(self, model, time, usage, said, at, reasoning=0):
        self.model, self.time, self.usage, self.said, self.at, self.reasoning = model, time, usage, said, at, reasoning
        self.reason = None
        self.logs = []  # that hold it, and when it was made as they say
        self.counted_in = []  # files in which the other counter takes it by session

    def bill(self):
        copies = [
            Copy(session_of(path), self.usage.total(), True, when, len(log.calls) + log.lost, order_of(path))
            for log, when in self.logs
            for path in log.paths
        ]
        return Bill(Copy.billed(copies).session, self.model, self.time, self.usage)

    def key(self):
        return (self.at, self.model, self.said, self.reasoning)


class Log:
    def __init__(self, world, time, **meta):
        self.world, self.source, self.chance, self.time = world, world.source, world.chance, time
        self.id = self.source.uuid()
        at = datetime.fromtimestamp(time / 1000, timezone.utc)
        self.path = os.path.join(
            ROOT, at.strftime("%Y/%m/%d"), at.strftime("rollout-%Y-%m-%dT%H-%M-%S-") + self.id + ".jsonl"
        )
        self.paths = [self.path]
        self.lines, self.calls = [], []
        self.lost = 0  # replies without what they were billed
        self.model = self.chance.choice(MODELS)
        self.is_old = self.source.is_one_in(4)  # counts in front of items, no turns
        self.has_records = not self.is_old and self.source.is_one_in(3)
        self.writes_cache = not self.is_old and self.source.is_one_in(3)
        self.has_blanks = False
        self.sum, self.reasoned = Usage(), 0
        self.carried = Usage()  # of a damaged record
        self.is_anew = False  # the sums were set to zero
        self.is_fresh = False  # a sub-agent that has not been billed
        self.meta = meta

    def put(self, kind, payload):
        record = {"timestamp": text_of(self.time), "type": kind, "payload": payload}
        self.lines.append(json.dumps(record) if self.has_blanks else compact(record))

    def begin(self):
        self.put(
            "session_meta",
            {
                "id": self.id,
                "timestamp": text_of(self.time),
                "cwd": "/home/ann/" + self.chance.choice(FOLDERS),
                "originator": "codex_cli_rs",
                "cli_version": "0.36.0" if self.is_old else "0.130.0",
                "source": "cli",
                "model_provider": "openai",
                **self.meta,
            },
        )

    def item(self, **item):
        self.put("response_item", item)

    def event(self, kind, **more):
        self.put("event_msg", {"type": kind, **more})

    def turn(self):
        self.time += self.source.pause()
        if self.source.is_one_in(8):
            self.model = self.chance.choice(MODELS)
        turn = {} if self.is_old else {"turn_id": self.source.uuid()}
        if turn:
            self.event("task_started", **turn)
        self.put("turn_context", {"cwd": "/home/ann/shop", "model": self.model, "approval_policy": "never", **turn})
        text = self.source.short()
        self.item(type="message", role="user", content=[{"type": "input_text", "text": text}])
        self.event("user_message", message=text)
        if self.source.is_one_in(6):
            self.event("token_count", info=None, rate_limits={"primary": {"used_percent": 3.0}})

    def count(self, usage, reasoning, last=None):
        """The record of tokens of a call, and often the same again: when and in which line, and whether again."""
        self.sum += usage
        self.reasoned += reasoning
        info = {
            "total_token_usage": counts(self.sum, self.reasoned),
            "last_token_usage": counts(last or usage, reasoning),
            "model_context_window": 272_000,
        }
        if last is None and not self.is_anew and self.source.is_one_in(10):
            del info["last_token_usage"]
        self.is_anew = False
        self.event("token_count", info=info, rate_limits=None)
        at, line, is_repeated = self.time, len(self.lines) - 1, self.source.is_one_in(3)
        if is_repeated:
            self.time += self.chance.randrange(1, 900)
            self.event("token_count", info=info, rate_limits={"primary": {"used_percent": 4.0}})
        return at, line, is_repeated

    def usage(self, context):
        written = self.chance.randrange(100, 3_000) if self.writes_cache else 0
        read = context // 128 * 128
        return Usage(self.chance.randrange(50, 4_000), read, written, self.chance.randrange(20, 1_800))

    def record_usage(self, usage, **more):
        if self.has_records:
            response = more.get("response_id", "resp_" + self.source.word(30))
            self.put("token_usage_record", {"response_id": response, "usage": counts(usage, 0)})

    def speak(self, with_tool):
        """The items of a reply; when the first one that says something was recorded."""
        if self.source.is_one_in(2):
            self.item(type="reasoning", summary=[], encrypted_content="gAAAA" + self.source.word(200))
            self.time += self.chance.randrange(5, 900)
        at = self.time
        call = "call_" + self.source.word(20)
        if not with_tool or self.source.is_one_in(3):
            self.item(type="message", role="assistant", content=[{"type": "output_text", "text": self.source.short()}])
        if with_tool:
            arguments = json.dumps({"command": ["bash", "-lc", self.source.short()]})
            self.item(type="function_call", name="shell", arguments=arguments, call_id=call)
        return at, call

    def answer(self, call):
        self.time += self.chance.randrange(30, 20_000)
        self.item(type="function_call_output", call_id=call, output=self.source.long())

    def step(self, context, with_tool):
        """A call of the model; how much more context there is."""
        usage = self.usage(context)
        reasoning = usage.output // 3
        self.time += self.chance.randrange(1_500, 30_000)
        if self.is_old:
            self.step_counted_ahead(usage, reasoning, with_tool)
            return 1_500
        self.record_usage(usage)
        at, call = self.speak(with_tool)
        self.time += self.chance.randrange(1, 300)
        self.counted(usage, reasoning, at)
        if with_tool:
            self.answer(call)
        return 1_500

    def counted(self, usage, reasoning, time):
        can_be_lost = self.calls and not self.has_records and not self.has_blanks and self.carried == Usage()
        is_lost = can_be_lost and self.source.is_one_in(400)
        last = usage if self.carried != Usage() else None
        at, line, is_repeated = self.count(usage, reasoning, last)
        if is_lost:
            del self.lines[line + 1 :]
            self.lines[line] = self.lines[line][: len(self.lines[line]) // 2]
            self.carried = usage
            self.lost += 1
            return
        call = Call(self.model, time, usage + self.carried, usage, at, reasoning)
        call.reason = "lost count" if self.carried != Usage() else None
        if self.is_fresh and is_repeated:
            call.said, call.reason = None, "burst"
        self.carried, self.is_fresh = Usage(), False
        self.add(call)

    def step_counted_ahead(self, usage, reasoning, with_tool):
        at, _, _ = self.count(usage, reasoning)
        self.time += self.chance.randrange(1, 40)
        time, call = self.speak(with_tool)
        self.add(Call(self.model, time, usage, usage, at, reasoning))
        if with_tool:
            self.answer(call)

    def add(self, call):
        if self.has_blanks:
            call.said, call.reason = None, "blanks"
        call.logs.append((self, call.time))
        if call.said:
            call.counted_in.append(self.path)
        self.calls.append(call)
        self.world.calls.append(call)

    def thought_alone(self, context):
        """A reply that was broken off."""
        usage = self.usage(context)
        self.record_usage(usage)
        self.item(type="reasoning", summary=[], encrypted_content="gAAAA" + self.source.word(200))
        self.time += 2_500
        at, _, _ = self.count(usage, usage.output)
        self.add(Call(self.model, at, usage, usage, at, usage.output))

    def compaction(self, context):
        """Its own call is in the sums, or in a record alone."""
        usage = self.usage(context)
        self.time += 4_000
        response = "resp_" + self.source.word(30)
        more = {}
        if self.has_records:
            self.record_usage(usage, response_id=response)
            call = Call(self.model, self.time, usage, None, self.time)
            call.reason = "no sum"
            more = {"compaction_response_id": response}
        else:
            at, _, _ = self.count(usage, 0)
            call = Call(self.model, at, usage, usage, at)
        self.add(call)
        kept = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": self.source.short()}]}]
        self.put("compacted", {"message": "", "replacement_history": kept, **more})
        self.event("context_compacted")

    def start_anew(self):
        """A version that counted from zero when a session was resumed."""
        if (
            self.sum.input > 60_000
            and self.sum.cache_read > 200_000
            and self.sum.output > 20_000
            and self.carried == Usage()
        ):
            self.sum, self.reasoned, self.is_anew = Usage(), 0, True

    def talk(self, turns):
        context = self.chance.randrange(8_000, 20_000)
        for _ in range(turns):
            self.turn()
            steps = self.chance.choice((1, 2, 4, 8))
            for number in range(steps):
                context += self.step(context, number + 1 < steps)
            if self.source.is_one_in(40):
                self.thought_alone(context)
            if context > 120_000 or self.source.is_one_in(40):
                self.compaction(context)
                context = 9_000
            elif self.is_old and self.source.is_one_in(12):
                self.start_anew()
            if not self.is_old:
                self.event("task_complete", last_agent_message=None)
            if self.source.is_one_in(20):
                self.event("thread_rolled_back", num_turns=1)


class World:
    def __init__(self, home, source):
        self.home, self.source, self.chance = home, source, source.chance
        self.calls = []

    def save(self, log):
        self.home.write(log.path, log.lines)

    def write(self):
        while not self.home.is_full():
            log = Log(self, self.source.start())
            log.has_blanks = self.source.is_one_in(40)
            log.begin()
            log.talk(self.chance.choice((1, 2, 4, 12)))
            kind = self.chance.randrange(20)
            if kind < 2 and not log.has_blanks:
                self.archive(log, is_moved=kind == 0)
                continue
            self.save(log)
            if log.has_blanks or log.is_old:
                continue
            if kind < 5:
                self.fork(log, is_rewritten=kind == 2)
            elif kind < 7 and not log.lost:
                self.spawn_with_history(log)
            elif kind < 9:
                self.spawn(log)
            elif kind == 9:
                self.twins(log)

    def archive(self, log, is_moved):
        copy = os.path.join(ARCHIVE, os.path.basename(log.path))
        log.paths = [copy] if is_moved else [log.path, copy]
        for call in log.calls:
            call.counted_in = log.paths if call.counted_in else []
        if not is_moved:
            self.save(log)
        self.home.write(copy, log.lines)

    def begin_copy(self, old, is_rewritten, lines, **meta):
        """Begins with records of the old session, which both counters pass over; their times may be new ones."""
        log = Log(self, old.time + self.chance.randrange(60_000, 3_000_000), **meta)
        log.is_old, log.has_records, log.writes_cache = old.is_old, old.has_records, old.writes_cache
        log.model, log.sum, log.reasoned, log.carried = old.model, old.sum, old.reasoned, old.carried
        log.begin()
        for line in lines:
            if is_rewritten and line.startswith('{"timestamp":"'):
                line = line[:14] + text_of(log.time) + line[38:]
            log.lines.append(line)
        return log

    @staticmethod
    def repeat(log, calls, is_rewritten):
        log.calls = list(calls)
        for call in calls:
            call.logs.append((log, log.time if is_rewritten else call.time))

    def fork(self, old, is_rewritten):
        log = self.begin_copy(old, is_rewritten, old.lines, forked_from_id=old.id)
        log.lost = old.lost
        self.repeat(log, old.calls, is_rewritten)
        log.talk(self.chance.choice((1, 3, 8)))
        self.save(log)

    def spawn_with_history(self, old):
        """Calls, results and thoughts are left out of what a sub-agent gets of its parent."""
        kept = [
            line
            for line in old.lines[1:]
            if '"type":"function_call' not in line
            and '"type":"reasoning"' not in line
            and '"type":"token_usage_record"' not in line
        ]
        source = {"subagent": {"thread_spawn": {"parent_thread_id": old.id, "depth": 1}}}
        log = self.begin_copy(old, True, kept, source=source)
        self.repeat(log, [call for call in old.calls if call.reason != "no sum"], True)
        log.talk(self.chance.choice((1, 2)))
        self.save(log)

    def agent_of(self, old, time):
        log = Log(self, time, source={"subagent": {"thread_spawn": {"parent_thread_id": old.id, "depth": 1}}})
        log.is_old, log.has_records, log.is_fresh = False, False, True
        log.begin()
        return log

    def spawn(self, old):
        log = self.agent_of(old, old.time + 2_000)
        log.talk(self.chance.choice((1, 2, 4)))
        self.save(log)

    def twins(self, old):
        """Two sub-agents whose first calls were billed the same, and recorded in the same millisecond."""
        usage, time = Usage(self.chance.randrange(900, 4_000), 7_680, 0, 212), old.time + 30_000
        for number in range(2):
            log = self.agent_of(old, old.time + 2_000)
            log.model = MODELS[0]
            log.put("turn_context", {"cwd": "/home/ann/shop", "model": MODELS[0]})
            log.event("task_started", turn_id=self.source.uuid())
            log.time = time
            log.item(type="message", role="user", content=[{"type": "input_text", "text": "look"}])
            log.item(type="message", role="assistant", content=[{"type": "output_text", "text": self.source.short()}])
            log.event(
                "token_count",
                info={"total_token_usage": counts(usage, 64), "last_token_usage": counts(usage, 64)},
                rate_limits=None,
            )
            call = Call(MODELS[0], time, usage, usage, time, 64)
            call.reason = "equal counts" if number else None
            log.add(call)
            self.save(log)


def write(home, source):
    world = World(home, source)
    world.write()
    ledger = Ledger()
    seen = set()
    for call in sorted(world.calls, key=lambda call: (call.at, call.reason is not None)):
        write_call(call, ledger, seen)
    return ledger


def write_call(call, ledger, seen):
    """`seen`: keys of calls that the other counter has by day already."""
    ours = call.bill()
    ledger.bill(ours)
    theirs = ours._replace(usage=call.said or Usage(), time=call.at)
    by_day = [theirs] if call.said and call.key() not in seen else []
    seen.add(call.key())
    ledger.compare([ours], by_day, call.reason or "midnight", ("day",))
    first = call.counted_in[:1]
    by_session = [theirs._replace(session=session_of(path)) for path in call.counted_in]
    moved = ours._replace(session=session_of(first[0])) if first else ours
    ledger.compare([ours], [moved], "longest", ("session",))
    ledger.compare([moved], by_session, call.reason or "copies", ("session",))
