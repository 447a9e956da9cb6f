"""Writes extensions/tiktoken/tests/tiktoken_random.jsonl: random texts, some of them ill-formed, and the ids tiktoken gives them.

    pip install tiktoken==0.14.0
    python3 extensions/tiktoken/tests/record_tiktoken.py FOLDER > extensions/tiktoken/tests/tiktoken_random.jsonl

FOLDER holds the .tiktoken files and encodings.json. The seed is fixed: the same texts every time.
"""

import base64
import json
import pathlib
import random
import sys

import tiktoken

NAMES = ["o200k_base", "cl100k_base", "p50k_base", "r50k_base"]
ALPHABETS = [
    "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789", "'''\"stmdrvlSTMDRVL\u017f",
    "    \t\n\r\n", "\u00a0\u0085\u2028\u3000\u2003\v\f\x1c\x1f\u200b\ufeff", "/\\.,;:!?-_=+*&^%$#@~`(){}[]<>|",
    "的一是不了人我在有他这中大来上国", "ーカタナひらがのは", "한국어의는이가을에", "абвгдежзийАБВГД", "ابتثجحخد",
    "अआइईउकखगािीु्", "\u0300\u0301\u0302\u20dd\ufe0f", "😀🎉👨\u200d👩🇩🇪🏽", "éèàüößÉÈÀÜÖ", "ǅǈʰʱªº", "Ⅷ½²٣३",
    "\ufffd\x00\x01\x7f",
]


def load(folder, name):
    encoding = json.loads((folder / "encodings.json").read_text())["encodings"][name]
    lines = (line.split() for line in (folder / encoding["file"]).read_bytes().splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    return tiktoken.Encoding(name, pat_str=encoding["pattern"], mergeable_ranks=ranks,
                             special_tokens=encoding["special_tokens"])


def random_text(rng):
    size = rng.choice([1, 2, 3, 5, 8, 13, 20, 40])
    alphabets = rng.choice([rng.sample(ALPHABETS, 3), ALPHABETS])
    kind = rng.random()
    if kind < 0.1:
        return rng.choice(rng.choice(ALPHABETS)) * rng.randint(1, 60)
    if kind < 0.2:
        ranges = [(0, 0xD800), (0xE000, 0x110000), (0, 0x3000)]
        return "".join(chr(rng.randrange(*rng.choice(ranges))) for _ in range(size))
    return "".join(rng.choice(rng.choice(alphabets)) for _ in range(size))


def random_bytes(rng):
    data = bytearray(random_text(rng).encode())
    if rng.random() < 0.3:
        for _ in range(rng.randint(1, 3)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        del data[rng.randint(1, len(data)):]
    return bytes(data)


def main():
    folder = pathlib.Path(sys.argv[1])
    encodings = {name: load(folder, name) for name in NAMES}
    rng = random.Random(20)
    for _ in range(300):
        data = random_bytes(rng)
        text = data.decode("utf-8", "replace")
        ids = {name: encoding.encode_ordinary(text) for name, encoding in encodings.items()}
        print(json.dumps({"hex": data.hex(), **ids}, separators=(",", ":")))


if __name__ == "__main__":
    main()
