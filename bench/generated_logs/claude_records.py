"""Logs of Claude Code while they are written: records with usage, who holds them, and files."""

import json
import os
from typing import NamedTuple, Optional

from .ledger import Bill, Copy, Usage, text_of
from .writing import compact

MODELS = ("claude-sonnet-4-5-20250929", "claude-opus-4-5-20251101", "claude-haiku-4-5-20251001", "claude-opus-4-6")
ROOT = os.path.join(".claude", "projects")


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
        self.path, self.calls = path, {}  # of `calls`: the tokens that it has of each, and when its first record is
        self.taken_back = set()

    def note(self, call, tokens, time):
        known, first = self.calls.get(call, (0, time))
        self.calls[call] = (max(tokens, known), min(time, first))
        if self not in call.threads:
            call.threads.append(self)

    def length(self):
        return sum(2 if call.advisor else 1 for call in self.calls)

    def copy_of(self, call, has_reply):
        tokens, time = self.calls[call]
        return Copy(session_of(self.path), tokens, has_reply, time, self.length(), self.path)


class Call:
    """A call as it was billed; `threads`: the sessions that hold it."""

    def __init__(self, model, time, usage, advisor=None):
        self.model, self.time, self.usage, self.advisor = model, time, usage, advisor
        self.threads = []

    def bills(self):
        copies = [thread.copy_of(self, self not in thread.taken_back) for thread in self.threads]
        bills = [Bill(Copy.billed(copies).session, self.model, self.time, self.usage)]
        if self.advisor:
            copies = [thread.copy_of(self, False) for thread in self.threads]
            bills.append(Bill(Copy.billed(copies).session, self.advisor[0], self.time, self.advisor[1]))
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
        self.world, self.path, self.session, self.time = world, path, session, time
        self.version, self.agent = version, agent
        self.lines, self.groups = [], []  # of `groups`: (message id, record, call, the sub-agent or "", tokens)
        self.threads = {}
        self.parent = None
        self.prompts = []  # the parent of each, and what was noted in front of it
        self.damaged = set()  # what records that cannot be read are called
        self.has_blanks, self.gateway = False, None
        self.inner = ""  # a sub-agent within a file of others

    def record(self, kind, body, **more):
        own = {
            "parentUuid": self.parent,
            "isSidechain": self.agent is not None,
            "userType": "external",
            "cwd": "/home/ann/" + self.world.folder,
            "sessionId": self.session,
            "version": self.version,
            "gitBranch": "main",
            "type": kind,
            **body,
            "uuid": self.world.source.uuid(),
            "timestamp": text_of(self.time),
            **more,
        }
        if self.agent and self.agent != "side":
            own["agentId"] = self.agent
        self.parent = own["uuid"]
        return own

    def add(self, kind, body, **more):
        record = self.record(kind, body, **more)
        self.put(record)
        return record

    def put(self, record):
        self.lines.append(json.dumps(record) if self.has_blanks else compact(record))

    def note(self, key, record, call, agent="", tokens=None):
        """A record of a call stands at the newest line. `tokens`: that it has of it, if that is not all."""
        group = self.world.groups.setdefault(key, Group())
        if call not in group.calls:
            group.calls.append(call)
        group.records.append(record)
        thread = self.threads.setdefault(agent, Thread(self.path))
        thread.note(call, call.usage.total() if tokens is None else tokens, record.time)
        self.groups.append((key, record, call, agent, tokens))

    def prompt(self):
        self.time += self.world.source.pause()
        self.prompts.append((self.parent, len(self.groups)))
        self.add("user", {"message": {"role": "user", "content": self.world.source.short()}})

    def result(self, use):
        self.time += self.world.source.chance.randrange(50, 9_000)
        block = {"tool_use_id": use, "type": "tool_result", "content": self.world.source.long()}
        record = self.record("user", {"message": {"role": "user", "content": [block]}})
        self.lines.append(compact(record))
        if self.world.source.is_one_in(300):
            self.damage()

    def damage(self):
        """Cuts the newest record."""
        self.lines[-1] = self.lines[-1][: len(self.lines[-1]) * 2 // 3]
        self.damaged.add(self.parent)

    def go_back(self):
        """The person takes back the two newest prompts and what came of them."""
        if len(self.prompts) < 3:
            return
        self.parent, first = self.prompts[-2]
        del self.prompts[-2:]
        if self.parent not in self.damaged and "" in self.threads:
            self.threads[""].taken_back.update(call for _, _, call, agent, _ in self.groups[first:] if not agent)
        self.prompt()

    def compaction(self):
        self.add(
            "system",
            {
                "subtype": "compact_boundary",
                "content": "Conversation compacted",
                "compactMetadata": {"trigger": "auto", "preTokens": 150_000},
            },
            parentUuid=None,
        )
        self.add("user", {"isCompactSummary": True, "message": {"role": "user", "content": self.world.source.long()}})

    def failure(self):
        self.add(
            "assistant",
            {
                "isApiErrorMessage": True,
                "message": {
                    "id": self.world.source.uuid(),
                    "model": "<synthetic>",
                    "role": "assistant",
                    "type": "message",
                    "stop_reason": "stop_sequence",
                    "content": [{"type": "text", "text": "API Error: 529 overloaded"}],
                    "usage": {
                        "input_tokens": 0,
                        "output_tokens": 0,
                        "cache_creation_input_tokens": 0,
                        "cache_read_input_tokens": 0,
                    },
                },
            },
        )
