"""Logs of Gemini CLI with what makes its bills hard: records that are written again under their id, a document beside
the lines of the same session, what was taken back, replies of thoughts alone, sub-agents."""

import json
import os

from .ledger import Bill, Ledger, Usage, text_of
from .writing import compact

NAME = "gemini_cli"
MODELS = ("gemini-3-pro-preview", "gemini-2.5-pro", "gemini-2.5-flash")

REASONS = {"thoughts": "thoughts are in no sum of output", "copies": "a message that two files hold counts twice"}


class Call:
    def __init__(self, session, model, time, tokens):
        self.session, self.model, self.time, self.tokens = session, model, time, tokens
        self.copies = 1

    def bill(self, with_thoughts=True):
        tokens = self.tokens
        output = tokens["output"] + (tokens["thoughts"] if with_thoughts else 0)
        return Bill(
            self.session,
            self.model,
            self.time,
            Usage(tokens["input"] - tokens["cached"] + tokens["tool"], tokens["cached"], 0, output),
        )


class Session:
    """Its records in order; `is_document`: one JSON document, as before 2026."""

    def __init__(self, world, folder, time, is_document, **facts):
        self.world, self.source, self.chance, self.time = world, world.source, world.chance, time
        self.id = self.source.uuid()
        self.head = {
            "sessionId": self.id,
            "projectHash": world.project,
            "startTime": text_of(time),
            "lastUpdated": text_of(time),
            **facts,
        }
        name = text_of(time)[:16].replace(":", "-")
        self.path = os.path.join(folder, f"session-{name}-{self.id[:13]}")
        self.is_document = is_document
        self.records, self.calls = [], []
        self.newest = {}  # each message as it was written last

    def record(self, **record):
        self.records.append(record)
        if "id" in record:
            self.newest[record["id"]] = record

    def message(self, kind, **more):
        id = self.source.uuid()
        self.record(id=id, timestamp=text_of(self.time), type=kind, **more)
        return id

    def prompt(self):
        self.time += self.source.pause()
        return self.message("user", content=[{"text": self.source.short()}])

    def tokens(self, context):
        tokens = {
            "input": context + self.chance.randrange(200, 4_000),
            "output": self.chance.randrange(10, 1_500),
            "cached": self.chance.choice((0, context // 2, context * 9 // 10)),
            "thoughts": self.chance.choice((0, 0, 150, 900)),
            "tool": self.chance.choice((0, 0, 0, 40)),
        }
        tokens["total"] = tokens["input"] + tokens["output"] + tokens["thoughts"] + tokens["tool"]
        return tokens

    def reply(self, context, with_tool):
        self.time += self.chance.randrange(900, 20_000)
        model, tokens = self.chance.choice(MODELS), self.tokens(context)
        id = self.source.uuid()
        record = {"id": id, "timestamp": text_of(self.time), "type": "gemini", "thoughts": [], "model": model}
        is_thought = self.source.is_one_in(60)
        record["content"] = "" if is_thought else self.source.short()
        if not self.is_document and self.source.is_one_in(2):
            self.record(**record)  # before its tokens are known
        record["tokens"] = tokens
        if not self.is_document:
            self.record(**record)
        if with_tool and not is_thought:
            call = "run-" + self.source.word(12)
            output = {"functionResponse": {"id": call, "name": "run", "response": {"output": self.source.long()}}}
            record = {
                **record,
                "toolCalls": [
                    {
                        "id": call,
                        "name": "run",
                        "args": {"command": self.source.short()},
                        "result": [output],
                        "status": "success",
                        "timestamp": text_of(self.time),
                    }
                ],
            }
            self.record(**record)
        elif self.is_document:
            self.record(**record)
        self.calls.append(Call(self.id, model, self.time, tokens))
        self.world.calls.append(self.calls[-1])

    def talk(self, prompts):
        context = self.chance.randrange(5_000, 15_000)
        for _ in range(prompts):
            id = self.prompt()
            steps = self.chance.choice((1, 2, 5))
            for number in range(steps):
                self.reply(context, number + 1 < steps)
                context += 1_500
            if not self.is_document and self.source.is_one_in(15):
                self.record(**{"$rewindTo": id})
                self.newest = {}
            elif not self.is_document and self.source.is_one_in(15):
                self.compress()
            if self.source.is_one_in(15):
                self.message("error", content="[API Error: quota]")
        if not self.is_document and self.source.is_one_in(3):
            self.record(**{"$set": {"lastUpdated": text_of(self.time)}})

    def compress(self):
        """The history is written anew: what was said in short, and the newest messages as they were."""
        facts = {"timestamp": text_of(self.time)}
        short = {"id": self.source.uuid(), **facts, "type": "user", "content": [{"text": self.source.long()}]}
        answer = {"id": self.source.uuid(), **facts, "type": "gemini", "content": "Got it.", "thoughts": []}
        self.record(**{"$set": {"messages": [short, answer, *list(self.newest.values())[-4:]]}})

    def lines(self):
        return [compact(self.head)] + [compact(record) for record in self.records]

    def document(self):
        return json.dumps({**self.head, "messages": [record for record in self.records if "type" in record]}, indent=2)


class World:
    def __init__(self, home, source):
        self.home, self.source, self.chance = home, source, source.chance
        self.calls, self.sessions = [], 0
        self.project = ""

    def save(self, session):
        if session.is_document:
            self.home.put(session.path + ".json", session.document())
        else:
            self.home.write(session.path + ".jsonl", session.lines())

    def write(self):
        while not self.home.is_full():
            if not self.project or self.source.is_one_in(6):
                self.project = f"{self.chance.getrandbits(128):032x}"
            chats = os.path.join(".gemini", "tmp", self.project, "chats")
            session = Session(self, chats, self.source.start(), self.source.is_one_in(3))
            session.talk(self.chance.choice((2, 5, 12, 30)))
            self.save(session)
            if session.is_document and self.source.is_one_in(4):
                self.go_on_in_lines(session)
            if self.source.is_one_in(8):
                self.sub_agent(session, chats)

    def go_on_in_lines(self, session):
        """A newer version goes on with an old session: the document stays, and lines beside it begin with the same."""
        for call in session.calls:
            call.copies = 2
        session.is_document = False
        session.talk(2)
        self.save(session)

    def sub_agent(self, parent, chats):
        agent = Session(self, os.path.join(chats, parent.id), parent.time + 500, False, kind="subagent")
        agent.talk(1)
        self.save(agent)


def write(home, source):
    world = World(home, source)
    world.write()
    ledger = Ledger()
    for call in world.calls:
        ours, said = call.bill(), call.bill(with_thoughts=False)
        ledger.bill(ours)
        ledger.compare([ours], [said], "thoughts")
        ledger.compare([said], [said] * call.copies, "copies")
    return ledger
