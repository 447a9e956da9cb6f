#!/usr/bin/env python3
"""What summaries by rule keep, by a public kit: conformance_kit.py WHITTLE [--check]

compaction-conformance-kit (PyPI) plants rules, limits, facts, goals and preferences in sessions, has them compacted five times within a
fixed share of their size, and asks what is left, and whether what was replaced comes back. Here `whittle apply --now` compacts them, without
a model, with retained facts and without. Prints the figures; --check fails if one is worse with facts than without."""
import json
import os
import subprocess
import sys
import tempfile

try:
    from compaction_kit.benchmark import run_budget_benchmark
    from compaction_kit.compacted import CompactedContext
except ImportError:
    sys.exit("compaction-conformance-kit is not installed: pip install compaction-conformance-kit")

BUDGETS = (0.2, 0.3)


class ByRule:
    """A chain of one stage without a model. What a round gives is the next one's conversation, with its side table, as a host keeps it."""

    def __init__(self, whittle, name, facts):
        self.whittle, self.name, self.facts = whittle, name, facts
        self.kept_of = {}  # messages and side table, by the text that the kit saw of them

    def stage(self, tokens):
        # The headings and sentences around the parts take about 150 tokens.
        room = max(60, tokens - 150)
        return {
            "type": "summarization",
            "trigger": {"context_tokens": 50},
            "keep_recent_tokens": room // 8,
            "rule_based_summary_tokens": max(50, room // 3),
            "retained_facts_tokens": room // 3 if self.facts else 0,
            "preserve_user_messages": {"max_tokens": room // 8},
        }

    def compact(self, turns, round_num=1, budget_chars=None):
        known = self.kept_of.get(turns[0].text) if len(turns) == 1 else None
        messages = known[0] if known else [{"role": "user" if t.role == "tool" else t.role, "content": t.text} for t in turns]
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("chain.json", "in.json", "out.json")]
            tokens = (budget_chars or 4000) // 4
            for path, value in zip(paths, ({"storage": {"type": "memory"}, "middlewares": [self.stage(tokens)]}, {"messages": messages})):
                with open(path, "w", encoding="utf-8") as out:
                    json.dump(value, out)
            if known:
                with open(paths[1] + ".whittle.json", "w", encoding="utf-8") as out:
                    out.write(known[1])
            command = [self.whittle, "apply", "--config", paths[0], "--in", paths[1], "--out", paths[2], "--now", "--target", str(tokens)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"whittle apply: {done.stderr}")
            with open(paths[2], encoding="utf-8") as result:
                messages = json.load(result)["messages"]
            with open(paths[2] + ".whittle.json", encoding="utf-8") as result:
                table = result.read()
        text = "\n".join(f"[{m['role']}] {m['content'] if isinstance(m['content'], str) else json.dumps(m['content'])}" for m in messages)
        self.kept_of[text] = (messages, table)
        return CompactedContext(text=text, compactor_name=self.name, round_num=round_num)


def measures_of(entry):
    return {
        "survival": entry["randomized"]["overall_final_survival"],
        "replaced and gone": entry["semantic"]["resolved_rate"],
        "distinct": entry["semantic"]["distinct_pair_rate"],
    }


def worse_with_facts(entries):
    by_way = {(e["budget_fraction"], e["compactor"]): measures_of(e) for e in entries}
    return [
        f"{budget:.0%}, {name}: {by_way[budget, 'facts on'][name]:.3f} with facts, {without:.3f} without"
        for budget in BUDGETS
        for name, without in by_way[budget, "facts off"].items()
        if by_way[budget, "facts on"][name] < without
    ]


def main(whittle, check):
    ways = {name: (lambda name=name, facts=facts: ByRule(whittle, name, facts)) for name, facts in (("facts on", True), ("facts off", False))}
    entries = run_budget_benchmark(ways, budgets=BUDGETS, seeds=(1, 2, 3, 4), rounds=5)["entries"]
    for budget in BUDGETS:
        for e in (e for e in entries if e["budget_fraction"] == budget):
            figures = ", ".join(f"{name} {value:.3f}" for name, value in measures_of(e).items())
            print(f"{budget:.0%}, {e['compactor']}: {figures}, largest output {e['max_output_to_budget']:.2f} of the budget")
    worse = worse_with_facts(entries) if check else []
    if worse:
        sys.exit("worse with retained facts: " + "; ".join(worse))


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), "--check" in sys.argv[2:])
