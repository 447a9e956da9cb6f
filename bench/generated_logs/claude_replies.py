"""Replies of Claude Code, as they are recorded, and its sub-agents."""

import os

from .claude_records import MODELS, Call, Log, Record
from .ledger import Usage, text_of


def json_of(usage, source, **more):
    """As the interface writes it."""
    fields = {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
        "service_tier": "standard",
    }
    if source.is_one_in(2):
        hour = usage.cache_write if source.is_one_in(2) else usage.cache_write // 3
        fields["cache_creation"] = {
            "ephemeral_5m_input_tokens": usage.cache_write - hour,
            "ephemeral_1h_input_tokens": hour,
        }
    return {**fields, **more}


class Reply:
    """The records of one call: thoughts, a text and a tool call, or some of these."""

    def __init__(self, world, log, usage, model=None):
        self.world, self.log, self.source = world, log, world.source
        self.model = model or world.chance.choice(MODELS)
        self.usage = usage
        self.id = "msg_01" + self.source.word(22)
        self.request = "req_011" + self.source.word(21)
        self.use = "toolu_01" + self.source.word(22)
        self.call = None

    def blocks(self):
        blocks = [
            {"type": "text", "text": self.source.short()},
            {"type": "tool_use", "id": self.use, "name": "Bash", "input": {"command": self.source.short()}},
        ]
        if self.source.is_one_in(3):
            blocks.insert(0, {"type": "thinking", "thinking": self.source.short(), "signature": "c2lnbmVk"})
        return blocks

    def message(self, block, usage, stop):
        return {
            "message": {
                "model": self.model,
                "id": self.id,
                "type": "message",
                "role": "assistant",
                "content": [block],
                "stop_reason": stop,
                "stop_sequence": None,
                "usage": usage,
            }
        }

    def add(self, block, usage, fields, stop=None, **facts):
        """A record with `usage`, which the file has as `fields`."""
        extra = {"requestId": self.request} if self.request else {}  # some gateways give none
        record = self.log.add("assistant", self.message(block, fields, stop), **extra)
        self.note(usage, **facts)
        return record

    def note(self, usage, **facts):
        if self.call is None:
            advisor = facts.get("advisor")
            self.call = Call(self.model, self.log.time, self.usage, advisor)
        seen = {"is_side": self.log.agent is not None, "is_seen": not self.log.has_blanks, **facts}
        model = seen.pop("theirs", self.model)
        self.log.note(
            self.id,
            Record(self.log.path, len(self.log.lines), usage, self.log.time, model, **seen),
            self.call,
            self.log.inner,
        )

    def because(self, reason):
        self.world.groups[self.id].reason = reason

    def step(self):
        self.log.time += self.world.chance.randrange(200, 2_500)

    # How the records tell what was billed.

    def same_in_all(self):
        blocks = self.blocks()
        fields = json_of(self.usage, self.source)
        for block in blocks:
            self.add(block, self.usage, fields, "tool_use" if block is blocks[-1] else None)
            self.step()

    def early_then_whole(self):
        blocks = self.blocks()
        early = self.usage._replace(output=min(self.usage.output, self.world.chance.randrange(1, 9)))
        for block in blocks[:-1]:
            self.add(block, early, json_of(early, self.source))
            self.step()
        self.add(blocks[-1], self.usage, json_of(self.usage, self.source), "tool_use")

    def early_alone(self):
        """Recorded before its end, or the record with the end is damaged."""
        self.usage = self.usage._replace(output=self.world.chance.randrange(1, 9))
        blocks = self.blocks()
        for block in blocks[:-1]:
            self.add(block, self.usage, json_of(self.usage, self.source))
            self.step()
        self.log.add(
            "assistant", self.message(blocks[-1], json_of(self.usage, self.source), "tool_use"), requestId=self.request
        )
        self.log.damage()

    def all_new_at_first(self):
        """A gateway calls all of the prompt new at first, and tells at the end what came from the cache."""
        blocks = self.blocks()
        first = Usage(self.usage.input + self.usage.cache_read + self.usage.cache_write + 900, 0, 0, 1)
        self.usage = self.usage._replace(output=min(self.usage.output, 800))
        self.add(blocks[0], first, json_of(first, self.source))
        self.step()
        self.add(blocks[-1], self.usage, json_of(self.usage, self.source), "tool_use")
        self.because("largest")

    def with_empty_lifetimes(self):
        fields = json_of(
            self.usage, self.source, cache_creation={"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0}
        )
        self.add(self.blocks()[-1], self.usage._replace(cache_write=0), fields, "tool_use")
        self.because("empty lifetimes")

    def with_null(self):
        self.add(self.blocks()[-1], self.usage, json_of(self.usage, self.source, speed=None), "tool_use", is_seen=False)
        self.because("null")

    def fast(self):
        self.add(
            self.blocks()[-1],
            self.usage,
            json_of(self.usage, self.source, speed="fast"),
            "tool_use",
            theirs=self.model + "-fast",
        )
        self.because("fast")

    def with_advisor(self):
        """The provider asked another model within the call: billed beside it."""
        chance = self.world.chance
        asked = Usage(chance.randrange(500, 4_000), 0, 0, chance.randrange(50, 600))
        inner = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        turns = [
            {"type": "message", "input_tokens": self.usage.input, "output_tokens": self.usage.output, **inner},
            {
                "type": "advisor_message",
                "model": MODELS[3],
                "input_tokens": asked.input,
                "output_tokens": asked.output,
                **inner,
            },
        ]
        self.add(
            self.blocks()[-1],
            self.usage,
            json_of(self.usage, self.source, iterations=turns),
            "tool_use",
            advisor=(MODELS[3], asked),
        )


USUAL = (Reply.same_in_all, Reply.early_then_whole)
ODD = (
    Reply.early_alone,
    Reply.all_new_at_first,
    Reply.with_empty_lifetimes,
    Reply.with_null,
    Reply.fast,
    Reply.with_advisor,
)


def reply(world, log, context):
    """A call and its result; how much the next one has in front of it."""
    log.time += world.source.pause()
    one = Reply(world, log, world.usage(context))
    if log.gateway:
        add_of_gateway(world, log, one)
    elif log.has_blanks:
        one.same_in_all()
        one.because("blanks")
    else:
        shape = world.chance.choice(ODD) if world.source.is_one_in(20) else world.chance.choice(USUAL)
        shape(one)
    log.result(one.use)
    if world.source.is_one_in(60):
        log.lines.append(log.lines[-1])  # written twice
    return one.usage.cache_write


def add_of_gateway(world, log, one):
    one.request, one.model = None, MODELS[0]
    if log.gateway == "one id":
        one.id = "msg-" + log.session
        one.add(one.blocks()[-1], one.usage, json_of(one.usage, world.source), "tool_use")
    else:
        one.early_then_whole()
    world.groups[one.id].has_requests = False


def sub_agent(world, log):
    kind = world.chance.choice((own_file, own_file, with_progress, progress_alone, in_the_same_file, aside))
    kind(world, log)


def agent_log(world, log, name):
    path = os.path.join(log.path.removesuffix(".jsonl"), "subagents", f"agent-{name}.jsonl")
    agent = Log(world, path, log.session, log.time + 500, log.version, name)
    agent.prompt()
    return agent


def ask(agent, world, calls):
    for number in range(calls):
        agent.time += 700
        one = Reply(world, agent, world.usage(3_000 + 800 * number), MODELS[2])
        yield one
        agent.result(one.use)


def own_file(world, log):
    agent = agent_log(world, log, world.source.word(8).lower())
    for one in ask(agent, world, world.chance.randrange(1, 12)):
        world.chance.choice(USUAL)(one)
    world.save(agent)


def progress_of(log, one, record):
    """What versions 2.1.0 to 2.1.70 wrote into the log of who started the sub-agent."""
    step = {key: record[key] for key in ("type", "message", "requestId", "uuid", "timestamp")}
    body = {
        "data": {"type": "agent_progress", "agentId": one.log.agent, "prompt": "look", "message": step},
        "toolUseID": "toolu_agent",
        "parentToolUseID": "toolu_agent",
    }
    log.time = one.log.time
    log.add("progress", body)


def with_progress(world, log):
    """Both its own file and progress in the other one; the progress of some was recorded before its end."""
    agent = agent_log(world, log, world.source.word(8).lower())
    for one in ask(agent, world, world.chance.randrange(1, 6)):
        record = one.add(one.blocks()[-1], one.usage, json_of(one.usage, world.source), "tool_use")
        is_early = world.source.is_one_in(3)
        if is_early:
            early = one.usage._replace(output=min(2, one.usage.output))
            step = {
                **record,
                "message": {**record["message"], "stop_reason": None, "usage": json_of(early, world.source)},
            }
            progress_of(log, one, step)
            put_progress(log, one, early)
        else:
            progress_of(log, one, record)
            put_progress(log, one, one.usage)
    world.save(agent)


def put_progress(log, one, usage):
    record = Record(log.path, len(log.lines), usage, one.log.time, one.model, is_progress=True)
    log.note(one.id, record, one.call, one.log.agent, usage.total())


def progress_alone(world, log):
    """Its own file is gone."""
    agent = agent_log(world, log, world.source.word(8).lower())
    for one in ask(agent, world, world.chance.randrange(1, 6)):
        body = one.message(one.blocks()[-1], json_of(one.usage, world.source), "tool_use")
        record = agent.record("assistant", body, requestId=one.request)
        one.call = Call(one.model, agent.time, one.usage)
        progress_of(log, one, record)
        put_progress(log, one, one.usage)


def in_the_same_file(world, log):
    """As older versions had it: its records have no agent's id and stand among the others."""
    side = Log(world, log.path, log.session, log.time, log.version, "side")
    side.lines, side.groups, side.threads, side.inner = log.lines, log.groups, log.threads, world.source.word(6)
    side.prompt()
    for one in ask(side, world, world.chance.randrange(1, 6)):
        world.chance.choice(USUAL)(one)
    log.time = side.time


def aside(world, log):
    """A question beside the work: its file begins with replies of the session, as of requests of their own."""
    agent = agent_log(world, log, "aside_question-" + world.source.word(6).lower())
    for key in dict.fromkeys(key for key, *_ in log.groups[-3:]):
        group = world.groups[key]
        if not group.reason and not any(one.advisor or one.is_side or one.is_progress for one in group.records):
            repeat(world, agent, key, max(group.records, key=lambda record: (record.usage.total(), -record.place)))
    agent.time = log.time
    for one in ask(agent, world, 1):
        world.chance.choice(USUAL)(one)
    world.save(agent)


def repeat(world, agent, key, record):
    call = world.groups[key].calls[0]
    body = {
        "message": {
            "model": call.model,
            "id": key,
            "type": "message",
            "role": "assistant",
            "stop_reason": "tool_use",
            "content": [{"type": "text", "text": world.source.short()}],
            "usage": json_of(record.usage, world.source),
        }
    }
    agent.time = record.time
    agent.add("assistant", body, requestId="req_011" + world.source.word(21))
    agent.note(key, record._replace(path=agent.path, place=len(agent.lines), is_side=True), call)
