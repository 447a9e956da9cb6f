#!/usr/bin/env python3
"""Does `whittle scan --bill` say what the reference counter says, and how long does it take?

bench/against_ccusage.py [--whittle PATH] [--ccusage PATH] [--megabytes N ...] [--seed N] [--agent NAME ...]
                         [--keep FOLDER] [--ours-alone]

Writes logs of several agents into temporary homes (bench/generated_logs), of which it knows what every call was billed.
Runs `whittle scan --bill --json` and npm's ccusage on each, and compares tokens by agent, day, model and session. Where
ccusage counts otherwise by its rules, the generators say so from their records: "explained". What is left is
unexplained, of theirs and of ours: then the exit code is 1. Seconds are processor time, the better of three runs by
turns; the yardstick is g++ -O0 on bench/compile_time/json.cpp. --ours-alone compares whittle with what was generated,
without ccusage and without times."""

import argparse
import json
import math
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile

from generated_logs import claude_code, codex, gemini_cli, opencode, pi
from generated_logs.ledger import KINDS, Sums, Usage, unexplained
from generated_logs.writing import Home, Source

VERSION = "20.0.24"  # whose rules the generators know; 20.0.26 has no program for Linux
HERE = os.path.dirname(os.path.abspath(__file__))
AGENTS = {agent.NAME: agent for agent in (claude_code, codex, gemini_cli, opencode, pi)}
COMMANDS = {"claude_code": "claude", "codex": "codex", "gemini_cli": "gemini", "opencode": "opencode", "pi": "pi"}
ROUNDS = 3


def stop(reason):
    sys.exit(f"against_ccusage: {reason}")


# Programs.


def find_whittle(given):
    for path in (
        [given]
        if given
        else [os.path.join(HERE, "..", "build", preset, "tool", "whittle") for preset in ("release", "quick", "dev")]
    ):
        if os.access(path, os.X_OK):
            return os.path.abspath(path)
    stop(f"{given}: no program" if given else "no whittle in build/release, build/quick or build/dev: --whittle PATH")


def native_package():
    system = {"Linux": "linux", "Darwin": "darwin", "Windows": "win32"}.get(platform.system())
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine().lower())
    if not system or not machine:
        stop(f"ccusage has no program for {platform.system()} on {platform.machine()}")
    return f"ccusage-{system}-{machine}", "ccusage.exe" if system == "win32" else "ccusage"


def install_ccusage(folder):
    """The package `ccusage` is a script that starts a native program of a second package: that runs without node."""
    if not shutil.which("npm"):
        stop("there is no npm to install ccusage with: --ccusage PATH, or --ours-alone")
    package, name = native_package()
    done = subprocess.run(
        ["npm", "install", "--prefix", folder, "--silent", "--no-audit", "--no-fund", f"ccusage@{VERSION}"],
        capture_output=True,
        text=True,
    )
    path = os.path.join(folder, "node_modules", "@ccusage", package, "bin", name)
    if done.returncode != 0 or not os.path.exists(path):
        stop(f"npm cannot install ccusage@{VERSION} with @ccusage/{package}: {done.stderr.strip()[:500]}")
    os.chmod(path, 0o755)
    return path


def check_version(path):
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True).stdout.split()
    except OSError as error:
        stop(f"{path}: {error.strerror}")
    if not said or said[-1] != VERSION:
        stop(f"{path}: expected ccusage {VERSION}, whose rules are known here, not {' '.join(said) or 'that'}")


def environment(home):
    """Nothing of the person's own agents and settings."""
    return {"HOME": home, "TZ": "UTC", "PATH": os.environ.get("PATH", ""), "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}


def run(command, home):
    """What it printed, and seconds of the processor with those of its own processes."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(command, stdout=out, stderr=complaints, env=environment(home))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            complaints.seek(0)
            said = complaints.read().decode(errors="replace").strip()[-600:]
            stop(f"{' '.join(command)}: exit code {process.returncode}: {said}")
        out.seek(0)
        return out.read(), usage.ru_utime + usage.ru_stime


def report_of(command, home):
    """The JSON that it printed, and the seconds."""
    text, seconds = run(command, home)
    try:
        return json.loads(text), seconds
    except ValueError:
        stop(f"{' '.join(command)}: expected a report as JSON, not {text[:60]!r}")


def whittle_command(whittle):
    return [whittle, "scan", "--bill", "--json"]


def ccusage_command(ccusage, agent, view):
    return [ccusage, COMMANDS[agent], view, "--json", "--offline", "--no-cost"]


# What they say.


def ours_of(report, agent):
    """The sums of `whittle scan --bill --json`."""
    sums = Sums()

    def usage(part):
        return Usage(*(part["billed"][f"{kind}_tokens"] for kind in KINDS))

    sums.put("agent", "all", usage(report["total"]))
    for day in report["days"]:
        sums.put("day", day["day"], usage(day))
    for model in report["models"]:
        sums.put("model", model["model"], usage(model))
    for bill in report["bills"]:
        sums.put("session", session_name(agent, bill), usage(bill))
    return sums


def session_name(agent, bill):
    """As the other counter calls it: some by their file, and sub-agents of Claude Code by who started them."""
    for module, root in ((claude_code, claude_code.ROOT), (codex, codex.ROOT), (codex, codex.ARCHIVE), (pi, pi.ROOT)):
        if agent == module.NAME and root + os.sep in bill["file"]:
            return module.session_of(bill["file"][bill["file"].rindex(root) :])
    return bill["session"]


def theirs_of(by_day, by_session):
    sums = Sums()

    def usage(row):
        names = ("inputTokens", "cacheReadTokens", "cacheCreationTokens", "outputTokens")
        return Usage(*(row[name] for name in names))

    for row in by_day["daily"]:
        sums.put("agent", "all", usage(row))
        sums.put("day", row["date"], usage(row))
        models = row.get("models") or {part["modelName"]: part for part in row["modelBreakdowns"]}
        for name, part in models.items():
            sums.put("model", name.removeprefix("[pi] "), usage(part))
    for row in by_session["sessions"]:
        sums.put("session", row["sessionId"], usage(row))
    return sums


# Runs.


class Run:
    """An agent's logs of one size: what was billed, what both say of it, and in what time."""

    def __init__(self, agent, ledger, home):
        self.agent, self.ledger, self.megabytes = agent, ledger, home.bytes / 1e6
        self.report, self.theirs = None, None
        self.seconds = {"ours": math.inf, "theirs": math.inf}

    def take_ours(self, whittle, home):
        self.report, seconds = report_of(whittle_command(whittle), home)
        self.seconds["ours"] = min(self.seconds["ours"], seconds)

    def take_theirs(self, ccusage, home):
        """Its cheaper report alone is timed; whittle's has all of it."""
        by_day, seconds = report_of(ccusage_command(ccusage, self.agent, "daily"), home)
        self.seconds["theirs"] = min(self.seconds["theirs"], seconds)
        if self.theirs is None:
            by_session, _ = report_of(ccusage_command(ccusage, self.agent, "session"), home)
            self.theirs = theirs_of(by_day, by_session)

    def judge(self):
        self.ours = ours_of(self.report, self.agent)
        self.calls = self.report["total"]["billed_calls"]
        self.wrong = {"ours": unexplained(self.ledger.billed.as_dict(), self.ours.as_dict())}
        if self.theirs:
            self.wrong["theirs"] = unexplained(self.ledger.expected_of_theirs(), self.theirs.as_dict())
        if self.calls != self.ledger.calls:
            self.wrong["ours"][("agent", "all", "calls")] = (self.ledger.calls, self.calls)

    def ratio(self):
        return self.seconds["ours"] / self.seconds["theirs"]


def write_logs(agent, megabytes, seed, folder):
    home = Home(folder, megabytes)
    ledger = AGENTS[agent].write(home, Source(random.Random(f"{seed}/{agent}/{megabytes:g}")))
    return home, ledger


def run_one(agent, megabytes, arguments, programs):
    whittle, ccusage = programs
    with tempfile.TemporaryDirectory() as temporary:
        folder = os.path.join(arguments.keep, f"{agent}-{megabytes:g}") if arguments.keep else temporary
        home, ledger = write_logs(agent, megabytes, arguments.seed, folder)
        one = Run(agent, ledger, home)
        for _ in range(ROUNDS if ccusage else 1):
            one.take_ours(whittle, folder)
            if ccusage:
                one.take_theirs(ccusage, folder)
        one.judge()
        return one


def yardstick():
    """Processor seconds of g++ -O0 on a program with nlohmann_json alone; None without a compiler."""
    if not shutil.which("g++"):
        return None
    source = os.path.join(HERE, "compile_time", "json.cpp")
    best = math.inf
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            command = ["g++", "-std=c++20", "-O0", "-c", source, "-o", os.path.join(folder, "json.o")]
            best = min(best, run(command, folder)[1])
    return best


# Tables.


def print_reasons(runs):
    """The differences that are known, with the records that have them."""
    print("\nhow ccusage counts otherwise, by its rules and the records written here (by session where days agree):")
    for agent in dict.fromkeys(one.agent for one in runs):
        for reason, text in AGENTS[agent].REASONS.items():
            of_it = [one.ledger for one in runs if one.agent == agent and one.ledger.cases.get(reason)]
            if not of_it:
                continue
            cases = sum(ledger.cases[reason] for ledger in of_it)
            tokens = sum((view_total(ledger.explained[reason]) for ledger in of_it), Usage())
            kinds = ", ".join(f"{name} {number:+,}" for name, number in zip(KINDS, tokens) if number)
            print(f"  {agent:<12} {text}: {cases:,} times; {kinds or 'only moved'}")


def view_total(sums):
    views = sums.views
    view = "agent" if views["agent"] else "session"
    return sum(views[view].values(), Usage())


def print_wrong(runs, most=12):
    for one in runs:
        for side, cells in one.wrong.items():
            for (view, key, kind), (expected, said) in sorted(cells.items())[:most]:
                print(
                    f"unexplained of {side}: {one.agent}, {one.megabytes:.0f} MB, {view} {key}, {kind}: {said:,}, not "
                    f"{expected:,}"
                )
            if len(cells) > most:
                print(f"unexplained of {side}: {one.agent}: and {len(cells) - most:,} more")


def print_growth(runs):
    print("\ngrowth of the seconds with the size, as a power, from the smallest size to the largest:")
    for agent in dict.fromkeys(one.agent for one in runs):
        sizes = [one for one in runs if one.agent == agent]
        if len(sizes) < 2:
            continue
        power = {
            side: math.log(sizes[-1].seconds[side] / sizes[0].seconds[side])
            / math.log(sizes[-1].megabytes / sizes[0].megabytes)
            for side in ("ours", "theirs")
        }
        print(f"  {agent:<12} ours {power['ours']:.2f}, theirs {power['theirs']:.2f}")


def print_table(runs):
    print(
        f"\n{'agent':<12} {'MB':>5} {'sessions':>8} {'calls':>7}  {'tokens':<11} {'ours':>13} {'theirs':>13} "
        f"{'difference':>12} {'explained':>12} {'unexplained':>11} {'s ours':>7} {'theirs':>7} {'ratio':>6}"
    )
    for one in runs:
        ours, theirs = view_total(one.ours), view_total(one.theirs)
        explained = sum((view_total(sums) for sums in one.ledger.explained.values() if sums.views["agent"]), Usage())
        for number, kind in enumerate(KINDS):
            left = sum(
                abs(said - expected)
                for cells in one.wrong.values()
                for (_, _, name), (expected, said) in cells.items()
                if name == kind
            )
            head = f"{one.agent:<12} {one.megabytes:>5.0f} {one.report['total']['sessions']:>8,} {one.calls:>7,}"
            tail = f"{one.seconds['ours']:>7.2f} {one.seconds['theirs']:>7.2f} {one.ratio():>6.2f}"
            print(
                f"{head if number == 0 else ' ' * len(head)}  {kind:<11} {ours[number]:>13,} {theirs[number]:>13,} "
                f"{theirs[number] - ours[number]:>+12,} {explained[number]:>+12,} {left:>11,}"
                f"{' ' + tail if number == 0 else ''}"
            )


def print_ours_alone(runs):
    for one in runs:
        left = sum(abs(said - expected) for expected, said in one.wrong["ours"].values())
        print(
            f"{one.agent}: {one.megabytes:.1f} MB, {one.report['total']['sessions']} sessions, {one.calls} calls, "
            f"{view_total(one.ours).total():,} tokens, unexplained {left:,}"
        )


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--whittle", metavar="PATH", help="the tool (default: that of build/release, quick or dev)")
    parser.add_argument(
        "--ccusage", metavar="PATH", help=f"its native program, version {VERSION} (default: installed by npm)"
    )
    parser.add_argument(
        "--megabytes", metavar="N", type=float, nargs="+", default=[8, 32, 128], help="sizes of each agent's logs"
    )
    parser.add_argument("--seed", metavar="N", type=int, default=1)
    parser.add_argument("--agent", metavar="NAME", nargs="+", choices=list(AGENTS), default=list(AGENTS))
    parser.add_argument("--keep", metavar="FOLDER", help="write the homes there and leave them")
    parser.add_argument(
        "--ours-alone", action="store_true", help="whittle against what was generated; no ccusage, no times"
    )
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    whittle = find_whittle(arguments.whittle)
    with tempfile.TemporaryDirectory() as folder:
        ccusage = None if arguments.ours_alone else os.path.abspath(arguments.ccusage or install_ccusage(folder))
        if ccusage:
            check_version(ccusage)
        sizes = sorted(arguments.megabytes)
        runs = [run_one(agent, size, arguments, (whittle, ccusage)) for agent in arguments.agent for size in sizes]
    if ccusage:
        print_reasons(runs)
        print_growth(runs)
        seconds = yardstick()
        what = f"{seconds:.2f} s (g++ -O0 on bench/compile_time/json.cpp)" if seconds else "none, there is no g++"
        print(f"\nyardstick: {what}")
    print_wrong(runs)
    (print_table if ccusage else print_ours_alone)(runs)
    sys.exit(any(cells for one in runs for cells in one.wrong.values()))


if __name__ == "__main__":
    main()
