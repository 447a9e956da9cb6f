#!/usr/bin/env python3
"""The figures of docs/choosing.md: bench/choosing.py WHITTLE SESSIONS_DIR [--judge DIR] [--quick]

Runs `whittle compare` on every *.jsonl of SESSIONS_DIR and prints Markdown: what the preset costs as billed, with what
stands in front of the messages; what each strategy costs and shows by size of sessions and by source; what is saved by
size of the front, by cache and by window; what each ingredient of the preset gives, how much each setting matters, and
what is lost on a source when the settings are chosen without it. But for the first tables nothing stands in front of
the messages. With the judge's directory (foresight.py: a control that knows which
lines will be needed, and pays for its edits) also the share of what that control saves."""
import concurrent.futures
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile

PROFILES = ("anthropic_5m", "openai", "openai_2026")
AGES = ("1-5", "6-10", "11-30", "over 30")
SIZES = ("over 100k", "20k-100k", "under 20k")
FRONTS = {"none": "0", "a tenth of a request": "10%", "a third of a request": "33%", "as billed": "recorded"}
WINDOWS = (32000, 64000, 128000, 200000)

# What the preset has and can do without.
ABLATION = {
    "recommended": {},
    "arguments stay": {"trim_arguments": False},
    "outputs stay": {"trim_program_output": False},
    "reads stay": {"trim_reads": False},
    "by lines": {"unit": "lines", "min_result_bytes": 240},
    "by lines, nothing on arrival": {"unit": "lines", "min_result_bytes": 240, "drop_known_lines_on_arrival": False},
}
# Neighbours of every option that was chosen by measuring.
SENSITIVITY = {
    "min_result_bytes": (240, 800),
    "min_argument_bytes": (120, 480),
    "start_tokens": (15000, 30000),
    "keep_rounds": (2,),
}


def careful(judge):
    """By session: C*/C0 by profile of the control that knows the future."""
    sys.path.insert(0, judge)
    sys.dont_write_bytecode = True
    import foresight
    import harness

    found = {}
    sessions, config = harness.load("long")
    for run in harness.evaluate(sessions, config, "careful", foresight.sched(1.0), save=False, quiet=True):
        found[run["id"]] = {p: run["money"][p]["Cstar"] / run["money"][p]["C0"] for p in PROFILES}
    return found


class Measure:
    def __init__(self, whittle, files, directory, known):
        self.whittle, self.files, self.directory, self.known = whittle, files, directory, known

    def compare(self, arguments):
        front = [] if "--front" in arguments else ["--front", "0"]
        command = [self.whittle, "compare", *self.files, "--json", "--sessions", *front, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command[:2])} ...: {done.stderr.strip()}")
        return json.loads(done.stdout)["strategies"]

    def preset(self, changes, profile, preset="recommended"):
        """The sessions under a preset for that provider, with these settings of trimming changed."""
        chain = {"preset": preset, "profile": {"context_window": 200000, "cache": profile}}
        if changes:
            chain["middlewares"] = [{"type": "trimming", **changes}]
        with tempfile.NamedTemporaryFile("w", suffix=".json", dir=self.directory, delete=False) as file:
            json.dump(chain, file)
        return self.compare(["--strategy", "noop", "--config", file.name, "--profile", profile])[1]["sessions"]

    def all_of(self, variants, profiles=PROFILES):
        """{name: {profile: sessions}}, one for each processor at a time."""
        jobs = [(name, profile) for name in variants for profile in profiles]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = pool.map(lambda job: self.preset(variants[job[0]], job[1]), jobs)
        table = {name: {} for name in variants}
        for (name, profile), sessions in zip(jobs, found):
            table[name][profile] = sessions
        return table

    def share(self, sessions, profile):
        """Of what the control saves; nan without it."""
        known = [self.known[s["session"]][profile] for s in sessions if s["session"] in self.known]
        if len(known) != len(sessions) or not known:
            return float("nan")
        saved = 1 - statistics.median(known)
        return (1 - cost(sessions, profile)) / saved if saved > 0 else float("nan")


def ratio(session, profile):
    return session["money"][profile]["with_refetches"] / session["money"][profile]["everything"]


def cost(sessions, profile):
    if not sessions:
        return float("nan")
    return statistics.median(ratio(s, profile) for s in sessions)


def seen(sessions):
    """Lines older than ten calls."""
    asked = visible = 0
    for session in sessions:
        for age, count in session["probes"]["action_line"].items():
            if age != next(iter(session["probes"]["action_line"])):
                asked, visible = asked + count["needed"], visible + count["visible"]
    return visible / asked if asked else float("nan")


def edits(sessions, age):
    """Of the edits whose old text stood in one piece, those where it still does in the request."""
    asked = whole = 0
    for session in sessions:
        count = session["edits"][age]
        asked, whole = asked + count["needed"], whole + count["possible"]
    return whole / asked if asked else float("nan")


def sum_of(a, b):
    return {key: a[key] + b[key] for key in a}


def harm(sessions, profile):
    return sum(ratio(s, profile) > 1.02 for s in sessions) / max(1, len(sessions))


def of_size(sessions, size):
    return [s for s in sessions if s["size"] == size]


def source(session):
    return os.path.basename(session["file"]).removesuffix(".jsonl")


def number(value):
    return "" if value != value else f"{value:.2f}"


def print_row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def quartiles(values):
    values = sorted(values)
    return f"{statistics.median(values):.2f} ({values[len(values) // 10]:.2f} to {values[-1 - len(values) // 10]:.2f})"


def print_headline(measure):
    """As `scan` says it: the cache of each bill, and what was billed in front of the messages."""
    print("\n### `recommended` as billed: C\\*/C0, median (a tenth below, a tenth above)\n")
    print_row("", "sessions", "with the front", "messages alone", "by lines, messages alone", "harm")
    print_row(*["---"] * 6)
    recommended = ["--strategy", "noop", "--preset", "recommended", "--profile", "billed"]
    with_front = measure.compare([*recommended, "--front", "recorded"])[1]["sessions"]
    alone = measure.compare(recommended)[1]["sessions"]
    by_lines = lambda s: s["money"]["billed"]["with_line_refetches"] / s["money"]["billed"]["everything"]
    for size in SIZES[:2]:
        names = sorted({source(s) for s in of_size(with_front, size)})
        for name in ["all", *names]:
            here = [of_size([s for s in group if name in ("all", source(s))], size) for group in (with_front, alone)]
            if len(here[0]) < 3 and name != "all":
                continue
            print_row(f"{size}, {name}", len(here[0]), quartiles([ratio(s, "billed") for s in here[0]]),
                      quartiles([ratio(s, "billed") for s in here[1]]), quartiles([by_lines(s) for s in here[1]]),
                      f"{harm(here[0], 'billed'):.2f}")


def print_conditions(measure):
    print("\n### `recommended` by front, cache and window: C\\*/C0\n")
    print_row("", *SIZES[:2], "harm over 20k", *(f"edits {age}" for age in AGES))
    print_row(*["---"] * (4 + len(AGES)))
    recommended = ["--strategy", "noop", "--preset", "recommended"]
    rows = {f"front: {name}": ("anthropic_5m", ["--front", front]) for name, front in FRONTS.items()}
    rows |= {f"cache: {name}": (name, []) for name in ("billed", "openai", "openai_2026", "no_cache")}
    rows |= {f"window: {window:,}": ("anthropic_5m", ["--window", str(window)]) for window in WINDOWS}
    for name, (profile, arguments) in rows.items():
        sessions = measure.compare([*recommended, "--profile", profile, *arguments])[1]["sessions"]
        long = [s for s in sessions if s["size"] != "under 20k"]
        print_row(name, *(f"{cost(of_size(sessions, size), profile):.3f}" for size in SIZES[:2]),
                  f"{harm(long, profile):.2f}", *(number(edits(sessions, age)) for age in AGES))


def print_strategies(measure):
    print("\n### Strategies, `anthropic_5m`\n")
    strategies = measure.compare(["--profile", "anthropic_5m"])
    print_row("", *(f"{size}: C\\*/C0" + ("" if size == "under 20k" else " @ seen") for size in SIZES), "harm",
              *(f"edits {age}" for age in AGES))
    print_row(*["---"] * (len(SIZES) + len(AGES) + 2))
    for strategy in strategies:
        cells = []
        for size in SIZES:
            sessions = of_size(strategy["sessions"], size)
            text = f"{cost(sessions, 'anthropic_5m'):.3f}"
            cells.append(text if size == "under 20k" else text + f" @ {seen(sessions):.2f}")
        print_row(f"`{strategy['name']}`", *cells, f"{harm(strategy['sessions'], 'anthropic_5m'):.2f}",
                  *(number(edits(strategy["sessions"], age)) for age in AGES))


def print_sources(measure, base):
    print("\n### `recommended` by source and provider: C\\*/C0 (share of the control that knows the future)\n")
    print_row("", "sessions", *PROFILES, "seen", "edits 1-10", "11-30", "over 30")
    print_row(*["---"] * (len(PROFILES) + 6))
    for size in SIZES[:2]:
        groups = {"all": None}
        groups.update(dict.fromkeys(sorted({source(s) for s in of_size(base[PROFILES[0]], size)})))
        for group in groups:
            cells = []
            for profile in PROFILES:
                sessions = [s for s in of_size(base[profile], size) if group in ("all", source(s))]
                share = number(measure.share(sessions, profile))
                cells.append(f"{cost(sessions, profile):.3f}" + (f" ({share})" if share else ""))
            if group == "all" or len(sessions) >= 3:
                first = [s for s in of_size(base[PROFILES[0]], size) if group in ("all", source(s))]
                near = [{"edits": {"near": sum_of(s["edits"]["1-5"], s["edits"]["6-10"])}} for s in first]
                print_row(f"{size}, {group}", len(sessions), *cells, number(seen(first)), number(edits(near, "near")),
                          *(number(edits(first, age)) for age in AGES[2:]))


def print_variants(title, table):
    print(f"\n### {title}\n")
    print_row("", *(f"{size}: C\\*/C0 @ seen" for size in SIZES[:2]), "harm over 20k",
              *(f"edits {age}" for age in AGES))
    print_row(*["---"] * (4 + len(AGES)))
    for name, by_profile in table.items():
        sessions = by_profile["anthropic_5m"]
        long = [s for s in sessions if s["size"] != "under 20k"]
        cells = [f"{cost(of_size(sessions, z), 'anthropic_5m'):.3f} @ {seen(of_size(sessions, z)):.2f}" for z in SIZES[:2]]
        print_row(name, *cells, f"{harm(long, 'anthropic_5m'):.3f}", *(number(edits(sessions, age)) for age in AGES))


def value(by_profile, keep):
    """What settings are chosen by: the mean of C*/C0 over sizes and providers; forgetting is out of the question."""
    total = 0.0
    for profile in PROFILES:
        sessions = [s for s in by_profile[profile] if keep(s)]
        for size in SIZES[:2]:
            part = of_size(sessions, size)
            if not part:
                continue
            if seen(part) < 0.88 or edits(part, "11-30") < 0.85 or harm(part, profile) > 0.07:
                return float("inf")
            total += statistics.mean(ratio(s, profile) for s in part)
    return total


def print_left_out(measure, table):
    """Settings are chosen among all variants without a source, and measured on it."""
    print("\n### Chosen without a source, measured on it: C\\*/C0, `anthropic_5m`\n")
    print_row("source", "sessions over 20k", "the preset", "chosen without it", "chosen")
    print_row(*["---"] * 5)
    for name in sorted({source(s) for s in table["recommended"][PROFILES[0]] if s["size"] != "under 20k"}):
        chosen = min(table, key=lambda variant: value(table[variant], lambda s: source(s) != name))
        costs = []
        for variant in ("recommended", chosen):
            own = [s for s in table[variant]["anthropic_5m"] if source(s) == name and s["size"] != "under 20k"]
            costs.append(f"{cost(own, 'anthropic_5m'):.3f}")
        print_row(name, len(own), *costs, chosen)


def main(arguments):
    whittle, directory = os.path.abspath(arguments[0]), arguments[1]
    known = careful(arguments[arguments.index("--judge") + 1]) if "--judge" in arguments else {}
    files = sorted(glob.glob(os.path.join(directory, "*.jsonl")))
    with tempfile.TemporaryDirectory() as scratch:
        measure = Measure(whittle, files, scratch, known)
        print_headline(measure)
        print_strategies(measure)
        print_conditions(measure)
        ablation = measure.all_of(ABLATION, PROFILES[:1])
        base = measure.all_of({"recommended": {}})
        print_sources(measure, base["recommended"])
        print_variants("What each ingredient gives", ablation)
        if "--quick" in arguments:
            return
        neighbours = {f"`{key}` {v}": {key: v} for key, values in SENSITIVITY.items() for v in values}
        table = base | measure.all_of(neighbours)
        print_variants("How much each setting matters", table)
        print_left_out(measure, table)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1:])
