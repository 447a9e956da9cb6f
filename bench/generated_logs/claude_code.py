"""Logs of Claude Code with what makes its bills hard: replies over several records, output that was recorded before its
end, resumed sessions, sub-agents of three kinds, gateways."""
import os
from typing import NamedTuple, Optional

from .ledger import Bill, Copy, Ledger, Usage, text_of
from .writing import FOLDERS, compact

NAME = "claude_code"
MODELS = ("claude-sonnet-4-5-20250929", "claude-opus-4-5-20251101", "claude-haiku-4-5-20251001", "claude-opus-4-6")
ROOT = os.path.join(".claude", "projects")

REASONS = {
    "largest": "of a reply's records it takes the largest, ours the one that has its end",
    "no request by day": "by day each record without a request's id is a call, unless it is written again",
    "no request by session": "by session all replies of one message id without a request's id are one",
    "empty lifetimes": "`cache_creation` of nothing but zeros stands for what was written to the cache",
    "null": "a record in which a field such as `speed` is null is left out",
    "blanks": "it finds usage only where no blank is behind a colon",
    "progress by day": "by day a record of progress stands for the sub-agent's own one, also if that has more",
    "progress by session": "by session records of progress are left out",
    "fast": "a model with the speed fast is a model of its own",
    "midnight": "a reply counts on the day of its largest record, ours of its first",
    "copies": "a call that several files hold counts in the first one, ours in the longest session",
}


class Record(NamedTuple):
    """A record with usage, as the other counter reads it."""
    path: str
    place: int
    usage: Usage
    time: int
    model: str
    is_side: bool = False
    is_progress: bool = False
    is_seen: bool = True
    advisor: Optional[tuple] = None  # its model, and its usage

    def bills(self):
        session = session_of(self.path)
        bills = [Bill(session, self.model, self.time, self.usage)]
        if self.advisor:
            bills.append(Bill(session, self.advisor[0], self.time, self.advisor[1]))
        return bills


class Thread:
    """A session as ours reads it: of a file, its main conversation or one of its sub-agents."""

    def __init__(self, path):
        self.path, self.calls = path, {}  # of `calls`: the tokens that it has of each

    def note(self, call, tokens):
        self.calls[call] = max(tokens, self.calls.get(call, 0))
        if self not in call.threads:
            call.threads.append(self)

    def length(self):
        return sum(2 if call.advisor else 1 for call in self.calls)


class Call:
    """A call as it was billed; `threads`: the sessions that hold it."""

    def __init__(self, model, time, usage, advisor=None):
        self.model, self.time, self.usage, self.advisor = model, time, usage, advisor
        self.threads = []

    def bills(self):
        session = Copy.billed([Copy(session_of(thread.path), thread.calls[self], thread.length(), thread.path)
                               for thread in self.threads]).session
        bills = [Bill(session, self.model, self.time, self.usage)]
        if self.advisor:
            bills.append(Bill(session, self.advisor[0], self.time, self.advisor[1]))
        return bills


class Group:
    """What has one message id: the records of a call, in all files, or of all calls of some gateways."""

    def __init__(self):
        self.calls, self.records, self.reason = [], [], None
        self.has_requests = True

    def chosen(self, is_by_day):
        """The other counter's choice, in its order of files."""
        if is_by_day and not self.has_requests:
            return [bill for record in self.records for bill in record.bills()]
        best = None
        for record in sorted(self.records):
            if not record.is_seen or (record.is_progress and not is_by_day):
                continue
            if best is None or is_better(record, best):
                best = record
        return best.bills() if best else []

    def write_to(self, ledger):
        ours = [bill for call in self.calls for bill in call.bills()]
        for bill in ours:
            ledger.bill(bill)
        has_progress = any(record.is_progress for record in self.records)
        for view, is_by_day in (("day", True), ("session", False)):
            chosen = self.chosen(is_by_day)
            elsewhere = [bill._replace(session=other.session) for bill, other in zip(ours, chosen)]
            # That it stands in another file is one difference, what is counted of it may be another one.
            before = elsewhere if view == "session" and len(chosen) == len(ours) else ours
            ledger.compare(ours, before, "copies", (view,))
            reason = self.reason or "midnight"
            if has_progress or not self.has_requests:
                reason = f"{'progress' if has_progress else 'no request'} by {view}"
            ledger.compare(before, chosen, reason, (view,))


def is_better(record, best):
    if record.is_side != best.is_side:
        return best.is_side
    return record.usage.total() > best.usage.total()


def session_of(path):
    """What the other counter calls the session of a file: a sub-agent's is that of who started it."""
    parts = path.split(os.sep)
    return parts[-3] if parts[-2] == "subagents" else parts[-1].removesuffix(".jsonl")


class Log:
    """A file that grows by a record at a time."""

    def __init__(self, world, path, session, time, version, agent=None):
        self.world, self.path, self.session, self.time, self.version, self.agent = (world, path, session, time, version,
                                                                                   agent)
        self.lines, self.groups = [], []  # of `groups`: (message id, record, call, the sub-agent or "", tokens)
        self.threads = {}
        self.parent = None
        self.prompts = []  # their parents, to go back to
        self.has_blanks, self.gateway = False, None
        self.inner = ""  # a sub-agent within a file of others

    def record(self, kind, body, **more):
        own = {"parentUuid": self.parent, "isSidechain": self.agent is not None, "userType": "external",
               "cwd": "/home/ann/" + self.world.folder, "sessionId": self.session, "version": self.version,
               "gitBranch": "main", "type": kind, **body, "uuid": self.world.source.uuid(),
               "timestamp": text_of(self.time), **more}
        if self.agent and self.agent != "side":
            own["agentId"] = self.agent
        self.parent = own["uuid"]
        return own

    def add(self, kind, body, **more):
        record = self.record(kind, body, **more)
        self.put(record)
        return record

    def put(self, record):
        import json
        self.lines.append(json.dumps(record) if self.has_blanks else compact(record))

    def note(self, key, record, call, agent="", tokens=None):
        """A record of a call stands at the newest line. `tokens`: that it has of it, if that is not all."""
        group = self.world.groups.setdefault(key, Group())
        if call not in group.calls:
            group.calls.append(call)
        group.records.append(record)
        self.threads.setdefault(agent, Thread(self.path)).note(call, call.usage.total() if tokens is None else tokens)
        self.groups.append((key, record, call, agent, tokens))

    def prompt(self):
        self.time += self.world.source.pause()
        self.prompts.append(self.parent)
        self.add("user", {"message": {"role": "user", "content": self.world.source.short()}})

    def result(self, use):
        self.time += self.world.source.chance.randrange(50, 9_000)
        block = {"tool_use_id": use, "type": "tool_result", "content": self.world.source.long()}
        record = self.record("user", {"message": {"role": "user", "content": [block]}})
        line = compact(record)
        is_damaged = self.world.source.is_one_in(300)
        self.lines.append(line[:len(line) // 2] if is_damaged else line)

    def go_back(self):
        """The person takes back what came since one of the newest prompts."""
        if len(self.prompts) > 2:
            self.parent = self.prompts[-2]
            self.prompt()

    def compaction(self):
        self.add("system", {"subtype": "compact_boundary", "content": "Conversation compacted",
                            "compactMetadata": {"trigger": "auto", "preTokens": 150_000}}, parentUuid=None)
        self.add("user", {"isCompactSummary": True, "message": {"role": "user", "content": self.world.source.long()}})

    def failure(self):
        self.add("assistant", {"isApiErrorMessage": True, "message": {
            "id": self.world.source.uuid(), "model": "<synthetic>", "role": "assistant", "type": "message",
            "stop_reason": "stop_sequence", "content": [{"type": "text", "text": "API Error: 529 overloaded"}],
            "usage": {"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0,
                      "cache_read_input_tokens": 0}}})


class World:
    def __init__(self, home, source):
        self.home, self.source, self.chance = home, source, source.chance
        self.groups = {}
        self.folder = ""
        self.logs = []

    def project(self):
        self.folder = f"{self.chance.choice(FOLDERS)}-{self.chance.randrange(1 + len(self.logs) // 6)}"
        return os.path.join(ROOT, "-home-ann-" + self.folder)

    def usage(self, context):
        written = self.chance.randrange(200, 4_000)
        return Usage(self.chance.randrange(1, 30), context, written, self.chance.randrange(20, 1_500))

    def begin(self):
        session = self.source.uuid()
        path = os.path.join(self.project(), session + ".jsonl")
        version = self.chance.choice(("2.0.31", "2.1.29", "2.1.48", "2.1.61"))
        log = Log(self, path, session, self.source.start(), version)
        log.has_blanks = self.source.is_one_in(40)
        log.gateway = None if log.has_blanks else self.gateway()
        log.lines.append(compact({"type": "file-history-snapshot", "messageId": self.source.uuid(), "snapshot": {}}))
        return log

    def gateway(self):
        """Some give no ids to requests, and of these some one id to all replies."""
        return {0: "one id", 1: "own ids"}.get(self.chance.randrange(40))

    def write(self):
        while not self.home.is_full():
            log = self.begin()
            self.logs.append(log)
            self.talk(log, self.chance.choice((2, 4, 8, 20)))
            self.save(log)
            if not log.has_blanks and not log.gateway and self.source.is_one_in(4):
                self.resume(log)

    def save(self, log):
        self.home.write(log.path, log.lines)

    def talk(self, log, prompts):
        from . import claude_replies
        context = self.chance.randrange(9_000, 30_000)
        for _ in range(prompts):
            if self.source.is_one_in(15):
                log.go_back()
            else:
                log.prompt()
            for _ in range(self.chance.choice((1, 2, 4, 9))):
                context += claude_replies.reply(self, log, context)
            if context > 150_000:
                log.compaction()
                context = 20_000
            if self.source.is_one_in(25):
                log.failure()
            if not log.has_blanks and not log.gateway and self.source.is_one_in(12):
                claude_replies.sub_agent(self, log)

    def resume(self, old):
        """A new file begins with all records of the old one, under the new session's id."""
        session = self.source.uuid()
        log = Log(self, os.path.join(os.path.dirname(old.path), session + ".jsonl"), session, old.time + 60_000,
                  old.version)
        log.lines = [line.replace(old.session, session) for line in old.lines]
        log.parent, log.prompts = old.parent, list(old.prompts)
        for key, record, *more in old.groups:
            log.note(key, record._replace(path=log.path), *more)
        self.talk(log, self.chance.choice((1, 3, 8)))
        self.save(log)
        if self.source.is_one_in(3):
            self.resume(log)


def write(home, source):
    world = World(home, source)
    world.write()
    ledger = Ledger()
    for group in world.groups.values():
        group.write_to(ledger)
    return ledger
