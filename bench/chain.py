"""Compares the chain with npm `langchain` and with eino on the same histories; bench/run calls it.

    python3 bench/chain.py --program build/release/bench/bench_chain_rows [--node DIR] [--eino PROGRAM]
                           [--vocabulary FILE.whittle] [--rounds 5] [--rows undue,clear]

DIR holds node_modules/langchain, PROGRAM is bench/peers/eino built, FILE is the packed o200k_base. Every round runs each
program once, in turn, as a process of its own. Times are of the processor. All programs must give the same check (results
cleared, summaries made, texts cut) before a time is printed. Ratios are peer / ours.
"""

import argparse
import json
import math
import pathlib
import shutil
import statistics
import subprocess
import sys

# Row: sizes, what the check counts.
ROWS = {"undue": ([100, 1_000, 10_000, 100_000], "cleared"), "undue_exact": ([10_000], "cleared"),
        "sync": ([1_000, 10_000], "messages too few"), "clear": ([1_000, 10_000], "cleared"),
        "session": ([250, 500, 1_000, 2_000], "cleared"), "summary": ([1_000, 10_000], "summaries"),
        "preset": ([200, 1_000, 5_000], "cut or cleared"),
        "cut": ([50_000, 1_000_000], "texts cut and stored"), "memory": ([1_000, 10_000], "messages")}
# Size up to which a program takes part in a row. langchain's context editing and its trimming for a summary are quadratic
# or worse, and would take minutes.
LARGEST = {"editing": {"undue": 1_000, "clear": 1_000, "session": 250},
           "summarization": {"undue": 10_000, "sync": 10_000, "session": 2_000, "summary": 1_000},
           "eino": {"undue": 100_000, "clear": 10_000, "session": 2_000, "cut": 1_000_000},
           "eino-summary": {"undue": 100_000, "session": 2_000, "summary": 10_000},
           "eino-usage": {"undue": 100_000, "session": 2_000}}
EINO = {"eino": "reduction", "eino-summary": "summarization", "eino-usage": "usage"}


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
        programs |= {name: [options.eino, middleware] for name, middleware in EINO.items()}
    else:
        print("skipped: eino is not there (--eino)")
    return programs


def measure(programs, row, n, options):
    """The seconds of each program, and its fastest answer."""
    times, answers = {}, {}
    for _ in range(options.rounds):
        for name, command in programs.items():
            if name != "whittle" and n > LARGEST[name].get(row, 0):
                continue
            answer = run(command + [row, str(n)] + ([options.vocabulary] if row == "undue_exact" else []))
            times.setdefault(name, []).append(answer["seconds"])
            if name not in answers or answer["seconds"] < answers[name]["seconds"]:
                answers[name] = answer
    checks = {answer["check"] for answer in answers.values()}
    if len(checks) != 1:
        sys.exit(f"{row} {n}: the checks differ: {({k: v['check'] for k, v in answers.items()})}")
    return times, answers


def more_of(answer):
    """What a program measured beside its time."""
    for key, value in answer.items():
        if key.startswith("seconds_"):
            yield f"{key[8:].replace('_', ' ')} {value * 1e6:.2f} us"
        elif key not in ("row", "n", "seconds", "allocations", "check"):
            yield f"{key.replace('_', ' ')} {value:.1f}"


def ratio(value):
    return f"{value:.1f}x" if value >= 10 else f"{value:.3g}x"


def print_size(row, n, times, answers):
    ours = times["whittle"]
    allocations = answers["whittle"]["allocations"]
    counted = f", {allocations} allocations of ours" if allocations >= 0 else ""
    print(f"{row} {n}: {answers['whittle']['check']} {ROWS[row][1]}{counted}")
    for name, all_times in times.items():
        more = "".join(", " + text for text in more_of(answers[name]))
        if min(ours) == 0:  # the row has no time
            print(f"  {name:14} {more[2:]}", flush=True)
            continue
        median = statistics.median(a / b for a, b in zip(all_times, ours))
        print(f"  {name:14} best {min(all_times) * 1e6:14.2f} us  median {statistics.median(all_times) * 1e6:14.2f} us  "
              f"{ratio(min(all_times) / min(ours)):>10} (median {ratio(median)}){more}", flush=True)


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
    parser.add_argument("--vocabulary")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", default=",".join(ROWS), help="some of them, with commas between")
    options = parser.parse_args()
    programs = programs_of(options)
    for row in options.rows.split(","):
        if row == "undue_exact" and not options.vocabulary:
            print("skipped: undue_exact has no vocabulary (--vocabulary)")
            continue
        points = {}
        for n in ROWS[row][0]:
            times, answers = measure(programs, row, n, options)
            print_size(row, n, times, answers)
            for name, all_times in times.items():
                points.setdefault(name, []).append((n, min(all_times)))
        for name, of_name in points.items():
            if len(of_name) > 1 and of_name[0][1] > 0:
                print(f"  {row}, {name}: time grows with size to the power {slope(of_name):.2f}")


if __name__ == "__main__":
    main()
