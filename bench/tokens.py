"""Compares exact counting with tiktoken (PyPI, its Rust core), on one thread.

    pip install tiktoken==0.14.0
    cmake --preset release && cmake --build --preset release --target bench_tokens whittle_cli
    build/release/tool/whittle vocab install o200k_base --from VOCABULARIES --to packed
    python3 bench/tokens.py speed  --program build/release/bench/bench_tokens --packed packed VOCABULARIES TEXT...
    python3 bench/tokens.py random --program build/release/bench/bench_tokens --packed packed VOCABULARIES --texts 100000

VOCABULARIES holds the .tiktoken files and encodings.json. `speed`: each text in slices of 2 KiB, both programs by
turns; counts must be equal before a time is printed. `random`: ids of random texts, some ill-formed, must be equal.
"""

import argparse
import array
import json
import pathlib
import random
import statistics
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "extensions" / "tiktoken" / "tests"))
import record_tiktoken  # noqa: E402

SLICE = 2048
PASSES = 5


def slices(data):
    at = 0
    while at < len(data):
        end = min(at + SLICE, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        yield data[at:end].decode()
        at = end


def tiktoken_pass(encoding, parts):
    start = time.perf_counter()
    tokens = sum(len(encoding.encode_ordinary(part)) for part in parts)
    return tokens, time.perf_counter() - start


def speed(options, encoding, packed):
    print(f"{'text':36} {'bytes':>8} {'tokens':>8} {'tiktoken':>9} {'cold':>7} {'warm':>7}  MB/s; ratios cold, warm "
          "(best; median of the rounds)")
    for path in options.texts_or_files:
        data = pathlib.Path(path).read_bytes().decode("utf-8", "replace").encode()
        parts = list(slices(data))
        theirs, cold, warm = [], [], []
        for _ in range(options.rounds):
            passes = [tiktoken_pass(encoding, parts) for _ in range(PASSES)]
            theirs.append(min(seconds for _, seconds in passes))
            line = subprocess.run([options.program, packed, "speed", "20", path], stdout=subprocess.PIPE, check=True)
            ours = json.loads(line.stdout)
            if ours["tokens"] != passes[0][0] or ours["bytes"] != len(data):
                sys.exit(f"{path}: {ours['tokens']} tokens, tiktoken counts {passes[0][0]}")
            cold.append(ours["cold"])
            warm.append(ours["warm"])
        rate = len(data) / 1e6
        medians = [statistics.median(a / b for a, b in zip(theirs, times)) for times in (cold, warm)]
        print(f"{pathlib.Path(path).name:36} {len(data):8} {ours['tokens']:8} {rate / min(theirs):9.1f} "
              f"{rate / min(cold):7.1f} {rate / min(warm):7.1f}  {min(theirs) / min(cold):5.1f}x "
              f"{min(theirs) / min(warm):5.1f}x; {medians[0]:5.1f}x {medians[1]:5.1f}x", flush=True)


def compare_random(options, encoding, packed):
    rng = random.Random(options.seed)
    texts = [record_tiktoken.random_bytes(rng) for _ in range(options.texts)]
    request = b"".join(struct.pack("<I", len(text)) + text for text in texts)
    answer = subprocess.run([options.program, packed, "ids"], input=request, stdout=subprocess.PIPE, check=True).stdout
    ids, at, wrong = array.array("I", answer), 0, 0
    for text in texts:
        found = list(ids[at + 1:at + 1 + ids[at]])
        at += ids[at] + 1
        expected = encoding.encode_ordinary(text.decode("utf-8", "replace"))
        if found != expected:
            wrong += 1
            print(f"{text.hex()}: {found}, tiktoken gives {expected}")
            break
    print(f"{options.encoding}: seed {options.seed}, {len(texts)} texts, {len(request)} bytes: "
          f"{'equal' if wrong == 0 else 'DIFFERENT'}")
    sys.exit(1 if wrong else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["speed", "random"])
    parser.add_argument("--program", required=True)
    parser.add_argument("--packed", required=True, help="directory of packed vocabularies")
    parser.add_argument("--encoding", default="o200k_base", choices=record_tiktoken.NAMES)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("vocabularies", type=pathlib.Path)
    parser.add_argument("texts_or_files", nargs="*")
    options = parser.parse_args()
    encoding = record_tiktoken.load(options.vocabularies, options.encoding)
    packed = str(pathlib.Path(options.packed) / f"{options.encoding}.whittle")
    (speed if options.mode == "speed" else compare_random)(options, encoding, packed)


if __name__ == "__main__":
    main()
