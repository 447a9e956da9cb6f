"""Compares exact counting with PyPI tiktoken and the JavaScript tokenizers, on one thread; bench/run calls it.

    python3 bench/counters.py --program build/release/bench/bench_tokens --packed packed [--node DIR] VOCABULARIES TEXT...

DIR holds node_modules with tiktoken, gpt-tokenizer and ai-tokenizer. Texts are counted in slices of 2 KiB, o200k_base. Every
round runs each program once, in turn. A peer that counts something else is named and not timed. Ratios are peer / ours, warm.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import tokens as with_tiktoken  # noqa: E402

PASSES = 5
PEERS = ["tiktoken", "gpt-tokenizer", "ai-tokenizer"]


def lines_of(command):
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    return [json.loads(line) for line in answer.splitlines()]


def round_of(options, encoding, texts):
    """Per program, per file: tokens and seconds."""
    packed = str(pathlib.Path(options.packed) / "o200k_base.whittle")
    ours = lines_of([options.program, packed, "speed", str(PASSES), *options.files])
    result = {"whittle": [(x["tokens"], x["warm"]) for x in ours], "whittle cold": [(x["tokens"], x["cold"]) for x in ours]}
    passes = [[with_tiktoken.tiktoken_pass(encoding, parts) for _ in range(PASSES)] for parts in texts]
    result["PyPI tiktoken"] = [(of_text[0][0], min(seconds for _, seconds in of_text)) for of_text in passes]
    if options.node:
        script = pathlib.Path(options.node) / "counts.mjs"  # beside node_modules, where node looks for packages
        shutil.copy(pathlib.Path(__file__).parent / "peers" / "counts.mjs", script)
        for peer in PEERS:
            lines = lines_of(["node", str(script), peer, str(PASSES), *options.files])
            result["npm " + peer] = [(x["tokens"], x["seconds"]) for x in lines]
    return result


def report(path, size, i, rounds):
    ours = [of_round["whittle"][i][1] for of_round in rounds]
    tokens = rounds[0]["whittle"][i][0]
    print(f"{path.name}: {size} bytes, {tokens} tokens")
    for name in rounds[0]:
        times = [of_round[name][i][1] for of_round in rounds]
        if rounds[0][name][i][0] != tokens:
            print(f"  {name:18} counts {rounds[0][name][i][0]}: not compared")
            continue
        median = statistics.median(a / b for a, b in zip(times, ours))
        print(f"  {name:18} best {size / min(times) / 1e6:7.1f} MB/s  median {size / statistics.median(times) / 1e6:7.1f} "
              f"MB/s  {min(times) / min(ours):6.1f}x (median {median:.1f}x)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--packed", required=True)
    parser.add_argument("--node")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("vocabularies", type=pathlib.Path)
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    if not options.node:
        print("skipped: the npm packages are not there (--node)")
    encoding = with_tiktoken.record_tiktoken.load(options.vocabularies, "o200k_base")
    data = [pathlib.Path(path).read_bytes().decode("utf-8", "replace").encode() for path in options.files]
    texts = [list(with_tiktoken.slices(text)) for text in data]
    rounds = [round_of(options, encoding, texts) for _ in range(options.rounds)]
    for i, path in enumerate(options.files):
        if rounds[0]["PyPI tiktoken"][i][0] != rounds[0]["whittle"][i][0]:
            sys.exit(f"{path}: {rounds[0]['whittle'][i][0]} tokens, tiktoken counts {rounds[0]['PyPI tiktoken'][i][0]}")
    for i, path in enumerate(options.files):
        report(pathlib.Path(path), len(data[i]), i, rounds)


if __name__ == "__main__":
    main()
