#!/usr/bin/env python3
"""Our cache hit rate beside the billed one: bench/hit_rates.py WHITTLE SESSIONS_DIR

Runs `whittle scan` on every *.jsonl of SESSIONS_DIR whose lines have `meta.usage`, and prints the difference of every
session whose every call was billed as median and a tenth at each end. Where a session is off by more than .02, it says
what the bill shows of the reasons, as shares of all input tokens: prefixes that the provider did not read though they
were no older than 5 minutes (raises ours over theirs), prefixes that it read though they were older, what the first
call read of an earlier session (both lower it), and places where the context fell: the agent compacted, and a
recording in the library's own form has the full history.

November 2026, ours less theirs, median (tenths); sessions off by more than .02, and why:
  Claude Code, long       12  +.008 (-.004, +.027)  4, up to +.031: missed, and the context fell
  Claude Code, middle     26  +.002 (-.007, +.013)  1: missed
  Claude Code, others      4  +.008 (+.002, +.009)  none
  Codex                    6  +.010 (-.006, +.068)  3: missed, up to .07 of all input
  opencode                12  -.009 (-.013, -.003)  3: two missed, one read the start from an earlier session's cache
  Gemini CLI               2  +.056 (+.056, +.233)  2, of 10 calls each: missed, and read late
  mini-swe-agent          12  +.070 (+.056, +.118)  11: missed; what was missed comes to the difference within .003
  pi                       1  +.024                 1: missed, and the context fell twice
Caches without breakpoints (OpenAI's, Gemini's) miss a prefix now and then. Claude Code keeps prefixes for an hour for
some of its users. 50 of the 75 sessions were within .02."""
import glob
import json
import os
import subprocess
import sys

KEPT_SECONDS = 300
FAR = 0.02


def quantile(values, share):
    values = sorted(values)
    return values[round(share * (len(values) - 1))]


def spread(values):
    return f"{quantile(values, .5):+.3f} ({quantile(values, .1):+.3f}, {quantile(values, .9):+.3f})"


def comparable(path):
    """Sessions of which every call was billed, as `scan` takes them."""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            session = json.loads(line)
            billed = {one[0]: one[1:4] for one in session.get("meta", {}).get("usage") or []}
            calls = [i for i, m in enumerate(session["messages"]) if m["role"] == "assistant"]
            if calls and all(sum(billed.get(i, [0])) > 0 for i in calls):
                yield session, calls, billed


def reasons(session, calls, billed):
    times = session["meta"].get("t") or []
    missed = late = first = total = fell = 0
    before = None
    for call in calls:
        size, read = sum(billed[call]), billed[call][2]
        total += size
        time = times[call] if call < len(times) else None
        if before is None:
            first = read
        elif size < before[0] * 0.6:
            fell += 1
        elif time is not None and before[1] is not None and time - before[1] > KEPT_SECONDS:
            late += read
        else:
            missed += max(0, min(before[0], size) - read)
        before = (size, time if time is not None else before and before[1])
    return missed / total, late / total, first / total, fell


def main(whittle, directory):
    everything = []
    for path in sorted(glob.glob(os.path.join(directory, "*.jsonl"))):
        sessions = list(comparable(path))
        if not sessions:
            continue
        scan = json.loads(subprocess.run([whittle, "scan", path, "--json"], check=True, capture_output=True).stdout)
        differences = scan["agreement"]["hit_rate_difference"]
        assert len(differences) == len(sessions), path
        everything += differences
        print(f"{os.path.basename(path)}: {len(differences)} sessions, {spread(differences)}")
        for difference, (session, calls, billed) in zip(differences, sessions):
            if abs(difference) <= FAR:
                continue
            missed, late, first, fell = reasons(session, calls, billed)
            print(f"  {difference:+.3f}  missed {missed:+.3f}, read late {-late:+.3f}, at the start {-first:+.3f}, "
                  f"fell {fell} times, {len(calls)} calls: {session['id']}")
    near = sum(abs(d) <= FAR for d in everything)
    print(f"all: {len(everything)} sessions, {spread(everything)}; within {FAR}: {near}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
