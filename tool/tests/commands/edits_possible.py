#!/usr/bin/env python3
"""Edits possible, counted a second time: edits_possible.py WHITTLE EDIT_READY.py FILE...

`whittle compare` counts edits whose old text stands in one piece in the request. edit_ready.py counts them by itself, from the
requests that `whittle replay` writes. For each file both have to agree on every count, to the edit.

edit_ready.py takes one blank off behind a line number (`12: x`), and with it the indentation of agents that write none there
(`12<arrow>    x`): texts of several lines are not found then. Here it looks for texts with that blank and without; what it finds as
it is has to be found by that too. Exits 77 where something is missing."""
import collections
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile

CHAIN = {"preset": "recommended", "profile": {"context_window": 200000, "cache": "anthropic_5m"}, "storage": {"type": "memory"}}


def load(path):
    spec = importlib.util.spec_from_file_location("edit_ready", path)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


def with_both_blanks(judge):
    """Texts with the blank behind line numbers, beside those that it has already."""
    number = re.compile(judge.NUMBER.pattern.removesuffix(r"\s?"))
    texts_of = judge.texts_of

    def both(message):
        yield from texts_of(message)
        yield "\n".join(number.sub("", line).rstrip() for line in judge.text_of(message).split("\n"))

    judge.texts_of = both


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command[:2])}: {done.stderr}")
    return done.stdout


def ours(whittle, file, chain):
    shown = json.loads(run(whittle, "compare", file, "--strategy", "noop", "--config", chain, "--profile", "anthropic_5m", "--json"))
    chains = [s for s in shown["strategies"] if s["type"] == "chain"]
    edits = chains[0]["strata"][0]["edits"]
    return {age: (edits[age]["needed"], edits[age]["possible"]) for age in edits}


def judged(judge, file, requests):
    with open(file, encoding="utf-8") as lines:
        trajectories = [json.loads(line) for line in lines if line.strip()]
    rows, _ = judge.measure(trajectories, requests)
    return {age: tuple(rows[age][:2]) if age in rows else (0, 0) for age, _ in judge.AGES}


def main(whittle, judge_path, *files):
    if not os.path.exists(judge_path) or not files or not all(os.path.exists(f) for f in files):
        print("skipped: there is no edit_ready.py or there are no recorded sessions here")
        sys.exit(77)
    sums = collections.Counter()
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        chain, requests = os.path.join(scratch, "chain.json"), os.path.join(scratch, "requests.jsonl")
        with open(chain, "w", encoding="utf-8") as out:
            json.dump(CHAIN, out)
        for file in files:
            run(whittle, "replay", file, "--config", chain, "--requests", requests, "--totals")
            found = judged(load(judge_path), file, requests)
            judge = load(judge_path)
            with_both_blanks(judge)
            theirs, mine = judged(judge, file, requests), ours(whittle, file, chain)
            for age, counts in mine.items():
                sums[age] += counts[0]
                sums["found by edit_ready.py"] += found[age][0]
            differs = mine != theirs
            failed = failed or differs
            print(f"{os.path.basename(file)}: {'DIFFERS: ours ' + str(mine) + ', judged ' + str(theirs) if differs else 'the same'}")
    print(dict(sums))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
