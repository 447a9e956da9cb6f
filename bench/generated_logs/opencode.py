"""opencode's database with what makes its bills hard: forks that copy messages under other ids, messages of several
steps, replies that failed or were taken back, compactions, totals with and without what was thought."""

import os
import sqlite3

from .ledger import Bill, Copy, Ledger, Usage
from .writing import FOLDERS, compact

NAME = "opencode"
MODELS = (("anthropic", "claude-sonnet-4-5"), ("openai", "gpt-5.2"), ("opencode", "big-pickle"))
FILE = os.path.join(".local", "share", "opencode", "opencode.db")
TABLES = """
CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, slug text, directory text, title text,
                      version text, revert text, time_created integer, time_updated integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer,
                   data text);
CREATE INDEX message_session_idx ON message (session_id);
CREATE INDEX part_message_idx ON part (message_id);
CREATE INDEX part_session_idx ON part (session_id);
"""

REASONS = {
    "thoughts": "what was thought is in no sum of output",
    "steps": "of a message with several steps it takes the last one",
    "copies": "a message that a fork copied counts twice",
}


class Step:
    """`total`: whether it is told, and "old" where its version counted what was thought as output as well."""

    def __init__(self, usage, reasoning, total):
        self.usage, self.reasoning = usage, 0 if total == "old" else reasoning
        self.tokens = {
            "input": usage.input,
            "output": usage.output - self.reasoning,
            "reasoning": reasoning,
            "cache": {"read": usage.cache_read, "write": usage.cache_write},
        }
        if total:
            self.tokens["total"] = usage.total()


class Reply:
    """A message of the assistant, for each of the sessions that hold it."""

    def __init__(self, model, time, steps, is_summary):
        self.model, self.time, self.steps, self.is_summary = model, time, steps, is_summary
        self.sessions = []  # in the order in which they began

    def stands_in(self, session):
        """Whether it is a message there: summaries are none, nor is what was taken back."""
        return not session.is_reverted and not self.is_summary

    def write_to(self, ledger):
        copies = [
            Copy(session.id, 0, self.stands_in(session), self.time, session.calls(), (session.created, session.id))
            for session in self.sessions
        ]
        first = Copy.billed(copies).session
        ours = [Bill(first, self.model, self.time, step.usage) for step in self.steps]
        for bill in ours:
            ledger.bill(bill)
        last = self.steps[-1]
        whole = Bill(first, self.model, self.time, last.usage)
        said = whole._replace(usage=last.usage._replace(output=last.usage.output - last.reasoning))
        ledger.compare(ours, [whole], "steps")
        ledger.compare([whole], [said], "thoughts")
        ledger.compare([said], [said._replace(session=session.id) for session in self.sessions], "copies")


class Session:
    def __init__(self, world, time, parent=None):
        self.world, self.source, self.chance, self.time = world, world.source, world.chance, time
        self.id = "ses_" + f"{time:012x}" + self.source.word(14)
        self.parent, self.revert, self.created = parent, None, time
        self.rows = []  # a message: its time, data, parts, and the reply that it is

    def calls(self):
        return sum(len(reply.steps) for *_, reply in self.rows if reply)

    def prompt(self):
        self.time += self.source.pause()
        data = {"role": "user", "time": {"created": self.time}, "agent": "build"}
        self.rows.append((self.time, data, [{"type": "text", "text": self.source.short()}], None))

    def step(self, context):
        reasoning = self.chance.choice((0, 0, 120, 700))
        usage = Usage(
            self.chance.randrange(1, 900),
            context,
            self.chance.choice((0, 800, 2_500)),
            self.chance.randrange(20, 1_500) + reasoning,
        )
        return Step(usage, reasoning, self.chance.choice(("", "", "told", "told", "old")))

    def parts_of(self, step):
        parts = [{"type": "step-start"}, {"type": "text", "text": self.source.short()}]
        if self.source.is_one_in(2):
            parts.insert(1, {"type": "reasoning", "text": self.source.short()})
        if self.chance.randrange(4):
            state = {
                "status": "completed",
                "input": {"command": self.source.short()},
                "output": self.source.long(),
                "title": "run",
                "metadata": {},
                "time": {"start": self.time, "end": self.time + 300},
            }
            parts.append({"type": "tool", "callID": "call_" + self.source.word(20), "tool": "bash", "state": state})
        return parts + [{"type": "step-finish", "reason": "tool-calls", "cost": 0, "tokens": step.tokens}]

    def reply(self, context, **facts):
        self.time += self.chance.randrange(900, 20_000)
        steps = [self.step(context) for _ in range(2 if self.source.is_one_in(25) else 1)]
        provider, model = self.chance.choice(MODELS)
        created = self.time
        self.time += self.chance.randrange(500, 9_000)
        data = {
            "role": "assistant",
            "modelID": model,
            "providerID": provider,
            "mode": "build",
            "cost": 0,
            "path": {"cwd": "/home/ann/shop", "root": "/"},
            "time": {"created": created, "completed": self.time},
            "tokens": steps[-1].tokens,
            "finish": "stop",
            **facts,
        }
        parts = [part for step in steps for part in self.parts_of(step)]
        reply = Reply(model, created, steps, "summary" in facts)
        self.rows.append((created, data, parts, reply))
        self.world.replies.append(reply)

    def failure(self):
        """A reply of which nothing came: its tokens stay zeros."""
        self.time += 900
        tokens = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
        data = {
            "role": "assistant",
            "modelID": MODELS[0][1],
            "providerID": MODELS[0][0],
            "tokens": tokens,
            "cost": 0,
            "time": {"created": self.time},
            "error": {"name": "APIError", "data": {"message": "overloaded"}},
        }
        self.rows.append((self.time, data, [], None))

    def talk(self, prompts):
        context = self.chance.randrange(5_000, 15_000)
        for _ in range(prompts):
            self.prompt()
            for _ in range(self.chance.choice((1, 2, 5))):
                self.reply(context)
                context += 1_200
            if self.source.is_one_in(20):
                self.failure()
            if self.source.is_one_in(30):
                self.reply(context, error={"name": "MessageAbortedError", "data": {}})
            if self.source.is_one_in(30):
                self.time += 10
                self.rows.append(
                    (
                        self.time,
                        {"role": "user", "time": {"created": self.time}},
                        [{"type": "compaction", "auto": True}],
                        None,
                    )
                )
                self.reply(context, summary=True)
                context = 6_000


class World:
    def __init__(self, home, source):
        self.home, self.source, self.chance = home, source, source.chance
        self.replies, self.numbers = [], 0
        path = os.path.join(home.path, FILE)
        os.makedirs(os.path.dirname(path))
        self.database = sqlite3.connect(path)
        self.database.executescript(TABLES)

    def id_of(self, kind):
        self.numbers += 1
        return f"{kind}_{self.numbers:012x}{self.source.word(14)}"

    def save(self, session):
        """A fork copies rows: under other ids, with their times."""
        insert = self.database.execute
        insert(
            "INSERT INTO session VALUES (?, 'p', ?, 'calm-otter', ?, 'shop', '1.2.10', ?, ?, ?)",
            (
                session.id,
                session.parent,
                "/home/ann/" + self.chance.choice(FOLDERS),
                session.revert,
                session.created,
                session.time,
            ),
        )
        for time, data, parts, reply in session.rows:
            message = self.id_of("msg")
            text = compact(data)
            insert("INSERT INTO message VALUES (?, ?, ?, ?, ?)", (message, session.id, time, time, text))
            size = len(text)
            for part in parts:
                text = compact(part)
                insert(
                    "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)",
                    (self.id_of("prt"), message, session.id, time, time, text),
                )
                size += len(text)
            if reply:
                reply.sessions.append(session)
            self.home.took(size, files=0)
            if session.revert is None and session.is_reverted and reply:
                session.revert = compact({"messageID": message})
        insert("UPDATE session SET revert = ? WHERE id = ?", (session.revert, session.id))

    def write(self):
        while not self.home.is_full():
            session = Session(self, self.source.start())
            session.is_reverted = self.source.is_one_in(20)
            session.talk(self.chance.choice((2, 5, 12, 30)))
            self.save(session)
            if self.source.is_one_in(6):
                self.fork(session)
            if self.source.is_one_in(6):
                agent = Session(self, session.time + 100, session.id)
                agent.is_reverted = False
                agent.talk(1)
                self.save(agent)
        self.database.commit()
        self.database.close()

    def fork(self, old):
        session = Session(self, old.time + 60_000)
        session.is_reverted = False
        session.rows = old.rows[: self.chance.randrange(1, len(old.rows) + 1)]
        session.talk(self.chance.choice((1, 3)))
        self.save(session)


def write(home, source):
    world = World(home, source)
    world.write()
    ledger = Ledger()
    for reply in world.replies:
        reply.write_to(ledger)
    return ledger
