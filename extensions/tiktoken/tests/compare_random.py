"""Compares ids and counts of random texts of all scripts, some ill-formed, with tiktoken (PyPI). Not a part of ctest.

    pip install tiktoken==0.14.0
    cmake --preset release && cmake --build --preset release --target bench_tokens whittle_cli
    build/release/tool/whittle vocab install o200k_base --from VOCABULARIES --to packed     (and the other three)
    python3 extensions/tiktoken/tests/compare_random.py --program build/release/bench/bench_tokens --packed packed VOCABULARIES

The seed is printed, so that a difference can be had again; without --seed it is a new one each time.
"""

import argparse
import array
import pathlib
import random
import secrets
import struct
import subprocess
import sys

import record_tiktoken

BATCH = 50_000


def answers_of(program, packed, texts):
    request = b"".join(struct.pack("<I", len(text)) + text for text in texts)
    answer = subprocess.run([program, packed, "ids"], input=request, stdout=subprocess.PIPE, check=True).stdout
    numbers, at = array.array("I", answer), 0
    for _ in texts:
        yield list(numbers[at + 1:at + 1 + numbers[at]])
        at += numbers[at] + 1


def compare(options, name, seed):
    encoding = record_tiktoken.load(options.vocabularies, name)
    packed = str(pathlib.Path(options.packed) / f"{name}.whittle")
    rng = random.Random(seed)
    done = size = 0
    while done < options.texts:
        texts = [record_tiktoken.random_bytes(rng) for _ in range(min(BATCH, options.texts - done))]
        expected = encoding.encode_ordinary_batch([t.decode("utf-8", "replace") for t in texts], num_threads=1)
        for text, ours, theirs in zip(texts, answers_of(options.program, packed, texts), expected):
            if ours != theirs:
                sys.exit(f"{name}, seed {seed}: {text.hex()}: {ours}, tiktoken gives {theirs}")
        done += len(texts)
        size += sum(map(len, texts))
    print(f"{name}, seed {seed}: {done} texts, {size} bytes: equal", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--packed", required=True, help="directory of packed vocabularies")
    parser.add_argument("--texts", type=int, default=1_000_000, help="for each encoding")
    parser.add_argument("--seed", type=int)
    parser.add_argument("vocabularies", type=pathlib.Path)
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else secrets.randbits(32)
    print(f"seed {seed}", flush=True)
    for name in record_tiktoken.NAMES:
        compare(options, name, seed)


if __name__ == "__main__":
    main()
