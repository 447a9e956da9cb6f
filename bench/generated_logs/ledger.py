"""What was billed, as the generators of logs know it, and where another counter has to say something else."""

from collections import defaultdict
from datetime import datetime, timezone
from typing import NamedTuple

KINDS = ("input", "cache_read", "cache_write", "output")


class Usage(NamedTuple):
    """Tokens of a call. Input excludes what was read from the cache and written to it."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0

    def __add__(self, other):
        return Usage(*(a + b for a, b in zip(self, other)))

    def __sub__(self, other):
        return Usage(*(a - b for a, b in zip(self, other)))

    def total(self):
        return sum(self)


class Bill(NamedTuple):
    """Tokens, and under which names they are summed up; `time` in milliseconds since 1970."""

    session: str
    model: str
    time: int
    usage: Usage


class Copy(NamedTuple):
    """A call in one of the sessions that hold it. Of several, that with the most tokens is billed, then one whose reply
    was not taken back, then the earliest, then that of the longest session, then the first that is read: `rank`."""

    session: str
    tokens: int
    has_reply: bool
    time: int
    calls: int
    rank: object

    def order(self):
        return (-self.tokens, not self.has_reply, self.time, -self.calls, self.rank)

    @staticmethod
    def billed(copies):
        return min(copies, key=Copy.order)


def day_of(time):
    return datetime.fromtimestamp(time / 1000, timezone.utc).strftime("%Y-%m-%d")


def text_of(time):
    at = datetime.fromtimestamp(time / 1000, timezone.utc)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{time % 1000:03}Z"


class Sums:
    """Usage by agent, day, model and session."""

    def __init__(self):
        self.views = {
            "agent": defaultdict(Usage),
            "day": defaultdict(Usage),
            "model": defaultdict(Usage),
            "session": defaultdict(Usage),
        }

    def add(self, bill, views=("day", "session")):
        """`views`: the other counter sums up in two runs, of which the one by day tells the models as well."""
        if "day" in views:
            self.put("agent", "all", bill.usage)
            self.put("day", day_of(bill.time), bill.usage)
            self.put("model", bill.model, bill.usage)
        if "session" in views:
            self.put("session", bill.session, bill.usage)

    def put(self, view, key, usage):
        self.views[view][key] += usage

    def cells(self):
        for view, sums in self.views.items():
            for key, usage in sums.items():
                for kind, tokens in zip(KINDS, usage):
                    if tokens:
                        yield (view, key, kind), tokens

    def as_dict(self):
        return dict(self.cells())


class Ledger:
    """`billed`: what every call was billed, once. `explained`: by reason, what the other counter says more or less,
    from the records of those calls, and for how many."""

    def __init__(self):
        self.billed = Sums()
        self.calls = 0
        self.files = 0
        self.bytes = 0
        self.explained = defaultdict(Sums)
        self.cases = defaultdict(int)

    def bill(self, bill):
        self.billed.add(bill)
        self.calls += 1

    def compare(self, ours, theirs, reason, views=("day", "session")):
        """Notes what they say (`theirs`: bills) in place of `ours`. Where that is the same, nothing is noted; where it
        is not, the generator has to know why."""
        for view in views:
            more, less = Sums(), Sums()
            for bill in theirs:
                more.add(bill, (view,))
            for bill in ours:
                less.add(bill, (view,))
            more, less = more.as_dict(), less.as_dict()
            cells = {cell: more.get(cell, 0) - less.get(cell, 0) for cell in {**more, **less}}
            cells = {cell: tokens for cell, tokens in cells.items() if tokens}
            if not cells:
                continue
            if not reason:
                raise AssertionError(f"a difference without a reason: {ours} against {theirs}")
            self.cases[reason] += 1
            for (name, key, kind), tokens in cells.items():
                self.explained[reason].put(name, key, Usage(**{kind: tokens}))

    def expected_of_theirs(self):
        """By cell: what was billed and the differences that are known."""
        cells = defaultdict(int, self.billed.as_dict())
        for sums in self.explained.values():
            for cell, tokens in sums.cells():
                cells[cell] += tokens
        return {cell: tokens for cell, tokens in cells.items() if tokens}


def unexplained(expected, said):
    """Cells in which a counter says something else than it should: {cell: (expected, said)}."""
    return {
        cell: (expected.get(cell, 0), said.get(cell, 0))
        for cell in {**expected, **said}
        if expected.get(cell, 0) != said.get(cell, 0)
    }
