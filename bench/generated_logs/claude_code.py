"""Logs of Claude Code with what makes its bills hard: replies over several records, output that was recorded before its
end, resumed sessions, sub-agents of three kinds, gateways."""

import os

from . import claude_replies
from .claude_records import ROOT, Log, session_of
from .ledger import Ledger, Usage
from .writing import FOLDERS, compact

NAME = "claude_code"

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
    "copies": "a call that several files hold counts in the first one, ours in the one with its reply, or the longest",
}


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
        log = Log(
            self, os.path.join(os.path.dirname(old.path), session + ".jsonl"), session, old.time + 60_000, old.version
        )
        log.lines = [line.replace(old.session, session) for line in old.lines]
        log.parent, log.prompts = old.parent, list(old.prompts)
        for key, record, *more in old.groups:
            log.note(key, record._replace(path=log.path), *more)
        log.damaged = set(old.damaged)
        for name, thread in old.threads.items():
            log.threads[name].taken_back = set(thread.taken_back)
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
