"""The generators of logs and what compares counters, without a counter."""

import hashlib
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "bench"))
import against_ccusage  # noqa: E402
from generated_logs.ledger import KINDS, Bill, Copy, Ledger, Usage, day_of, unexplained  # noqa: E402

MEGABYTES = 2


def generate(agent, seed, folder):
    return against_ccusage.write_logs(agent, MEGABYTES, seed, folder)


def print_of(folder):
    """Of all files' names and bytes; of a database, of its rows."""
    whole = hashlib.sha256()
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            whole.update(os.path.relpath(path, folder).encode())
            with open(path, "rb") as file:
                whole.update(file.read().replace(folder.encode(), b""))
    return whole.hexdigest()


class Generators(unittest.TestCase):
    def test_one_seed_gives_the_same_logs_and_another_one_other_logs(self):
        for agent in against_ccusage.AGENTS:
            with self.subTest(agent), tempfile.TemporaryDirectory() as folder:
                one, same, other = (os.path.join(folder, name) for name in ("one", "same", "other"))
                _, ledger = generate(agent, 1, one)
                _, again = generate(agent, 1, same)
                generate(agent, 2, other)
                self.assertEqual(print_of(one), print_of(same))
                self.assertEqual(ledger.billed.as_dict(), again.billed.as_dict())
                self.assertNotEqual(print_of(one), print_of(other))

    def test_days_models_and_sessions_hold_the_same_tokens(self):
        for agent in against_ccusage.AGENTS:
            with self.subTest(agent), tempfile.TemporaryDirectory() as folder:
                _, ledger = generate(agent, 3, folder)
                whole = ledger.billed.views["agent"]["all"]
                self.assertTrue(all(whole[:2] + whole[3:]))
                for view in ("day", "model", "session"):
                    sums = ledger.billed.views[view]
                    self.assertGreater(len(sums), 2)
                    self.assertEqual(sum(sums.values(), Usage()), whole)

    def test_every_difference_has_a_reason_that_is_told(self):
        for agent, module in against_ccusage.AGENTS.items():
            with self.subTest(agent), tempfile.TemporaryDirectory() as folder:
                _, ledger = generate(agent, 4, folder)
                self.assertTrue(ledger.cases)
                self.assertLessEqual(set(ledger.cases), set(module.REASONS))


class Comparison(unittest.TestCase):
    bill = Bill("a", "model-x", 1_790_000_000_000, Usage(10, 200, 30, 4))

    def test_what_another_counter_says_by_its_rules_is_explained(self):
        ledger = Ledger()
        ledger.bill(self.bill)
        ledger.compare([self.bill], [self.bill._replace(usage=Usage(10, 200, 30, 1))], "early")
        said = Ledger()
        said.bill(self.bill._replace(usage=Usage(10, 200, 30, 1)))
        self.assertEqual(unexplained(ledger.expected_of_theirs(), said.billed.as_dict()), {})
        self.assertEqual(ledger.cases["early"], 2)  # by day and by session

    def test_what_nobody_knows_of_is_not(self):
        ledger, said = Ledger(), Ledger()
        ledger.bill(self.bill)
        said.bill(self.bill._replace(usage=Usage(10, 200, 31, 4), model="model-y"))
        wrong = unexplained(ledger.expected_of_theirs(), said.billed.as_dict())
        self.assertEqual(wrong[("agent", "all", "cache_write")], (30, 31))
        self.assertEqual(wrong[("model", "model-y", "input")], (0, 10))
        self.assertEqual(wrong[("model", "model-x", "input")], (10, 0))
        self.assertEqual(wrong[("session", "a", "cache_write")], (30, 31))
        self.assertNotIn(("day", day_of(self.bill.time), "input"), wrong)

    def test_a_difference_without_a_reason_is_refused(self):
        ledger = Ledger()
        with self.assertRaises(AssertionError):
            ledger.compare([self.bill], [], None)
        ledger.compare([self.bill], [self.bill], None)

    def test_of_copies_the_largest_counts_then_one_with_its_reply_the_earliest_the_longest_and_the_first(self):
        ranked = [
            Copy("largest", 9, False, 5, 1, 9),
            Copy("with its reply", 8, True, 5, 1, 9),
            Copy("earliest", 8, False, 3, 1, 9),
            Copy("longest", 8, False, 5, 7, 9),
            Copy("first", 8, False, 5, 1, 0),
            Copy("last", 8, False, 5, 1, 9),
        ]
        while ranked:
            self.assertEqual(Copy.billed(ranked[::-1]), ranked[0])
            del ranked[0]

    def test_reports_of_both_become_the_same_sums(self):
        counts = {"billed": {f"{kind}_tokens": number for kind, number in zip(KINDS, self.bill.usage)}}
        ours = {
            "total": counts,
            "days": [{"day": "2026-09-21", **counts}],
            "models": [{"model": "model-x", **counts}],
            "bills": [{"session": "b/agent-1", "file": "/h/.claude/projects/-p/b/subagents/agent-1.jsonl", **counts}],
        }
        row = dict(zip(("inputTokens", "cacheReadTokens", "cacheCreationTokens", "outputTokens"), self.bill.usage))
        by_day = {"daily": [{"date": "2026-09-21", "modelBreakdowns": [{"modelName": "model-x", **row}], **row}]}
        theirs = against_ccusage.theirs_of(by_day, {"sessions": [{"sessionId": "b", **row}]})
        self.assertEqual(
            against_ccusage.ours_of(json.loads(json.dumps(ours)), "claude_code").as_dict(), theirs.as_dict()
        )
        self.assertEqual(len(theirs.as_dict()), 16)


if __name__ == "__main__":
    unittest.main()
