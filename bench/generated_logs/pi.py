"""Sessions of pi with what makes their bills hard: branches, forks that repeat entries, compactions and summaries of
branches with a bill of their own, bills beside the conversation, sub-agents within results, replies that failed."""

import os

from .ledger import Bill, Copy, Ledger, Usage, text_of
from .writing import FOLDERS, compact

NAME = "pi"
MODELS = (
    ("anthropic", "anthropic-messages", "claude-sonnet-4-5"),
    ("openai", "openai-responses", "gpt-5.2"),
    ("openrouter", "openai-completions", "openrouter/auto"),
)
ROOT = os.path.join(".pi", "agent", "sessions")

REASONS = {
    "beside": "the bills of compactions, of summaries of branches, of results and beside the conversation are left out",
    "answered by": "a call counts with the model that was asked for, ours with the one that answered",
    "copies": "a call that a fork repeats counts with the original, ours in the longest session, and twice where a "
    "branch that was left is in front of it",
}


def session_of(path):
    return os.path.basename(path).removesuffix(".jsonl").partition("_")[2]


def json_of(usage, source):
    fields = {
        "input": usage.input,
        "output": usage.output,
        "cacheRead": usage.cache_read,
        "cacheWrite": usage.cache_write,
        "totalTokens": usage.total(),
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
    }
    if source.is_one_in(3):
        fields["reasoning"] = usage.output // 3
    if source.is_one_in(3):
        fields["cacheWrite1h"] = usage.cache_write // 2
    return fields


class Call:
    """`said`: the model that the other counter names; "" where it leaves the call out."""

    def __init__(self, model, said, time, usage):
        self.model, self.said, self.time, self.usage = model, said, time, usage
        self.threads = []  # sessions that hold it; a sub-agent is one of its own

    def write_to(self, ledger):
        copies = [
            Copy(session_of(thread.path), 0, True, self.time, len(thread.calls), thread.path) for thread in self.threads
        ]
        ours = Bill(Copy.billed(copies).session, self.model, self.time, self.usage)
        ledger.bill(ours)
        if not self.said:
            ledger.compare([ours], [], "beside")
            return
        said = ours._replace(model=self.said)
        ledger.compare([ours], [said], "answered by")
        counted = [thread.path for thread in self.threads if thread.counts(self)]
        ledger.compare([said], [said._replace(session=session_of(path)) for path in counted], "copies")


class Thread:
    """`repeated`: calls with which a fork begins, up to the first branch: the other counter passes over these."""

    def __init__(self, path):
        self.path, self.calls, self.repeated = path, [], set()

    def add(self, call):
        self.calls.append(call)
        call.threads.append(self)

    def counts(self, call):
        return call not in self.repeated


class World:
    def __init__(self, home, source):
        self.home, self.source, self.chance, self.calls = home, source, source.chance, []


class Session:
    def __init__(self, world, folder, time, parent=None):
        self.world, self.source, self.chance, self.time = world, world.source, world.chance, time
        self.id, self.folder = self.source.uuid(), folder
        name = text_of(time).replace(":", "-").replace(".", "-")
        self.path = os.path.join(ROOT, f"--home-ann-{folder}--", f"{name}_{self.id}.jsonl")
        head = {
            "type": "session",
            "version": 3,
            "id": self.id,
            "timestamp": text_of(time),
            "cwd": "/home/ann/" + folder,
        }
        if parent:
            head["parentSession"] = os.path.join(world.home.path, parent.path)
        self.head, self.leaf = head, None
        self.entries = []  # a record, the calls of its own, and those of sub-agents in it, by sub-agent
        self.threads = [Thread(self.path)]

    def add(self, type, calls=(), agents=(), **body):
        record = {
            "type": type,
            "id": self.source.uuid()[:8] + self.source.word(4).lower(),
            "parentId": self.leaf,
            "timestamp": text_of(self.time),
            **body,
        }
        self.leaf = record["id"]
        self.put(record, calls, agents)
        return record

    def put(self, record, calls, agents):
        self.entries.append((record, calls, agents))
        for call in calls:
            self.threads[0].add(call)
        for of_agent in agents:
            self.threads.append(Thread(self.path))
            for call in of_agent:
                self.threads[-1].add(call)

    def message(self, message, calls=(), agents=()):
        return self.add("message", calls, agents, message={**message, "timestamp": self.time})

    def usage(self, context):
        return Usage(
            self.chance.randrange(1, 900),
            context,
            self.chance.choice((0, 900, 2_400)),
            self.chance.randrange(20, 1_500),
        )

    def call(self, model, usage, said=None):
        call = Call(model, model if said is None else said, self.time, usage)
        self.world.calls.append(call)
        return call

    def reply_message(self, usage, provider, api, model, blocks, stop="stop"):
        message = {
            "role": "assistant",
            "content": blocks,
            "api": api,
            "provider": provider,
            "model": model,
            "usage": json_of(usage, self.source),
            "stopReason": stop,
        }
        if self.source.is_one_in(2):
            message["responseId"] = "resp_" + self.source.word(30)
        return message

    def reply(self, context, with_tool, stop="stop"):
        self.time += self.chance.randrange(900, 20_000)
        usage = self.usage(context)
        provider, api, model = self.chance.choice(MODELS)
        blocks = [{"type": "thinking", "thinking": self.source.short()}, {"type": "text", "text": self.source.short()}]
        use = "call_" + self.source.word(20)
        if with_tool:
            blocks.append(
                {"type": "toolCall", "id": use, "name": "bash", "arguments": {"command": self.source.short()}}
            )
        message = self.reply_message(usage, provider, api, model, blocks, stop)
        answered = model
        if model == "openrouter/auto" and self.source.is_one_in(2):
            answered = message["responseModel"] = "qwen/qwen3-coder"
        self.message(message, [self.call(answered, usage, model)])
        if with_tool:
            self.result(use)

    def result(self, use):
        """Some tools ask models, whose bill or whose messages stand in the result."""
        self.time += self.chance.randrange(50, 9_000)
        result = {
            "role": "toolResult",
            "toolCallId": use,
            "toolName": "bash",
            "isError": False,
            "content": [{"type": "text", "text": self.source.long()}],
        }
        if self.source.is_one_in(40):
            usage = self.usage(0)
            self.message({**result, "usage": json_of(usage, self.source)}, [self.call("", usage, "")])
        elif self.source.is_one_in(40):
            agents = [self.sub_agent() for _ in range(self.chance.randrange(1, 4))]
            details = {
                "mode": "parallel",
                "results": [{"agent": "scout", "messages": messages} for messages, _ in agents],
            }
            self.message({**result, "toolName": "subagent", "details": details}, (), [calls for _, calls in agents])
        else:
            self.message(result)

    def sub_agent(self):
        messages = [
            {"role": "user", "content": [{"type": "text", "text": self.source.short()}], "timestamp": self.time}
        ]
        calls = []
        for number in range(self.chance.randrange(1, 4)):
            self.time += 1_100
            usage = self.usage(2_000 * number)
            provider, api, model = MODELS[0]
            blocks = [{"type": "text", "text": self.source.short()}]
            messages.append({**self.reply_message(usage, provider, api, model, blocks), "timestamp": self.time})
            calls.append(self.call(model, usage, ""))
        return messages, calls

    def beside(self, type, **body):
        """A bill that is no reply's; but for `usage` entries nobody says of which model."""
        self.time += 3_000
        usage = self.usage(30_000)
        model = body.get("model", "")
        self.add(type, [self.call(model, usage, "")], usage=json_of(usage, self.source), **body)

    def prompt(self):
        self.time += self.source.pause()
        return self.message({"role": "user", "content": [{"type": "text", "text": self.source.short()}]})

    def talk(self, prompts):
        context = self.chance.randrange(4_000, 12_000)
        for _ in range(prompts):
            prompt = self.prompt()
            steps = self.chance.choice((1, 2, 5))
            for number in range(steps):
                self.reply(context, number + 1 < steps)
                context += 1_300
            if self.source.is_one_in(25):
                self.reply(context, False, self.chance.choice(("error", "aborted")))
            if self.source.is_one_in(15):
                left, self.leaf = self.leaf, prompt["parentId"]
                self.beside("branch_summary", fromId=left, summary=self.source.short())
            if self.source.is_one_in(25):
                self.beside(
                    "compaction", summary=self.source.short(), firstKeptEntryId=prompt["id"], tokensBefore=context
                )
                context = 5_000
            if self.source.is_one_in(30):
                self.beside("usage", kind="cache_warm", provider=MODELS[0][0], model=MODELS[0][2])

    def fork(self):
        """A new file that repeats the way to the newest entry, or all of them."""
        fork = Session(self.world, self.folder, self.time + 60_000, self)
        way, has_all = self.way(), self.source.is_one_in(2)
        is_line = True
        for record, calls, agents in self.entries:
            if not has_all and record["id"] not in way:
                continue
            is_line = is_line and record["id"] in way
            fork.put(record, calls, agents)
            fork.threads[0].repeated.update(calls if is_line else ())
        fork.leaf = self.leaf
        fork.talk(self.chance.choice((1, 3)))
        return fork

    def way(self):
        parents = {record["id"]: record["parentId"] for record, *_ in self.entries}
        way, at = set(), self.leaf
        while at:
            way.add(at)
            at = parents[at]
        return way

    def lines(self):
        return [compact(self.head)] + [compact(record) for record, *_ in self.entries]


def write(home, source):
    world = World(home, source)
    while not home.is_full():
        session = Session(world, source.chance.choice(FOLDERS), source.start())
        session.talk(source.chance.choice((2, 5, 12, 30)))
        home.write(session.path, session.lines())
        if source.is_one_in(5):
            fork = session.fork()
            home.write(fork.path, fork.lines())
    ledger = Ledger()
    for call in world.calls:
        call.write_to(ledger)
    return ledger
