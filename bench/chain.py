"""Compares the chain with npm `langchain` and with eino on the same histories; bench/run calls it.

    python3 bench/chain.py --program build/release/bench/bench_chain_rows [--node DIR] [--eino PROGRAM] [--rounds 5]

DIR holds node_modules/langchain, PROGRAM is bench/peers/eino built. Every round runs each program once, in turn, as a
process of its own. Times are of the processor. All programs must clear the same number of results before a time is printed. Ratios are peer / ours.
"""

import argparse
import json
import math
import pathlib
import shutil
import statistics
import subprocess
import sys

# Row, sizes, sizes at which langchain is left out: its context editing is quadratic (clear) or worse.
ROWS = [("undue", [100, 1_000, 10_000, 100_000]), ("clear", [1_000, 10_000]), ("session", [250, 500, 1_000, 2_000])]
LARGEST = {("editing", "undue"): 1_000, ("editing", "clear"): 1_000, ("editing", "session"): 250,
           ("summarization", "undue"): 10_000, ("summarization", "clear"): 0, ("summarization", "session"): 1_000,
           ("eino", "undue"): 100_000}


def run(command):
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def programs_of(options):
    programs = {"whittle": [options.program]}
    if options.node:
        script = pathlib.Path(options.node) / "langchain-rows.mjs"  # beside node_modules, where node looks for packages
        shutil.copy(pathlib.Path(__file__).parent / "peers" / "langchain.mjs", script)
        programs |= {name: ["node", str(script), name] for name in ("editing", "summarization")}
    else:
        print("skipped: npm langchain is not there (--node)")
    if options.eino:
        programs["eino"] = [options.eino]
    else:
        print("skipped: eino is not there (--eino)")
    return programs


def measure(programs, row, n, rounds):
    times, answers = {}, {}
    for _ in range(rounds):
        for name, command in programs.items():
            if n > LARGEST.get((name, row), 10**9):
                continue
            answers[name] = run(command + [row, str(n)])
            times.setdefault(name, []).append(answers[name]["seconds"])
    checks = {answer["check"] for answer in answers.values()}
    if len(checks) != 1:
        sys.exit(f"{row} {n}: results cleared differ: {({k: v['check'] for k, v in answers.items()})}")
    return times, answers


def slope(points):
    """Of log time over log size, by least squares."""
    xs, ys = zip(*((math.log(n), math.log(t)) for n, t in points))
    x, y = statistics.mean(xs), statistics.mean(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--node")
    parser.add_argument("--eino")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    programs = programs_of(options)
    for row, sizes in ROWS:
        points = {}
        for n in sizes:
            times, answers = measure(programs, row, n, options.rounds)
            ours = times["whittle"]
            print(f"{row} {n}: {answers['whittle']['check']} cleared, {answers['whittle']['allocations']} allocations"
                  " of ours")
            for name, all_times in times.items():
                points.setdefault(name, []).append((n, min(all_times)))
                median = statistics.median(a / b for a, b in zip(all_times, ours))
                print(f"  {name:14} best {min(all_times) * 1e6:14.2f} us  median "
                      f"{statistics.median(all_times) * 1e6:14.2f} us  {min(all_times) / min(ours):10.1f}x "
                      f"(median {median:.1f}x)", flush=True)
        for name, of_name in points.items():
            if len(of_name) > 1:
                print(f"  {row}, {name}: time grows with size to the power {slope(of_name):.2f}")


if __name__ == "__main__":
    main()
