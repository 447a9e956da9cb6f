"""Fits the weights of `estimate` to exact o200k_base counts, and writes them and their errors.

    pip install tiktoken==0.14.0
    cmake --preset release && cmake --build --preset release --target bench_estimate_pieces
    python3 bench/fit_estimate.py --program build/release/bench/bench_estimate_pieces DATA [--write]

DATA holds tokenizers/, tool_outputs/ and trajectories/. With --write it replaces src/tokens/estimate_table.hpp and
bench/estimate_errors.tsv; without, it prints the errors. Scripts that DATA lacks come from the translated messages of
the programs of this machine (/usr/share/locale, Debian 12 with language packs: other machines give other figures); what
each corpus weighs is in the code. Everything else is the same on every machine.

Weights: the mean exact count of a piece, by kind and length, over corpora of which none weighs more than 60,000 tokens.
Then corpora that come out too low gain weight and those that come out too high lose some, step by step.
"""

import argparse
import array
import base64
import collections
import gettext
import hashlib
import json
import math
import pathlib
import random
import statistics
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "extensions" / "tiktoken" / "tests"))
import record_tiktoken  # noqa: E402

KINDS = """lower_bare lower_spaced lower_marked lower_dense capital_bare capital_spaced capital_marked capital_dense
upper_bare upper_spaced upper_marked upper_dense latin greek cyrillic semitic indic southeast hangul kana han
other_letter number punctuation repeated asian_mark symbol emoji other invalid spaces newlines""".split()
LISTED = 15
SLICE = 4096
LARGEST = 60_000  # tokens that a corpus may weigh
SEED = 20
STEEPEST = 1.5  # by how much a corpus may gain weight
# The common languages of a script weigh more than the others, translated messages otherwise a tenth.
SHARES = {"ru": 4, "hi": 4, "th": 1, "el": 1, "vi": 0.5, "it": 0.2, "pl": 0.2, "tr": 0.2, "ko": 0.3}
SHARES_OF_I18N = {"ar": 3, "zh-TW": 0.3, "zh-CN": 2}
# Where pieces are few: tokens of a piece = constant + slope * characters.
PRIORS = {"greek": (.3, .55), "cyrillic": (.5, .28), "semitic": (.5, .4), "indic": (.3, .55), "southeast": (.5, .33),
          "hangul": (.3, .65), "kana": (.2, .62), "han": (.2, .72), "other_letter": (.5, 1.2), "number": (.6, 1 / 3),
          "asian_mark": (.2, .7), "symbol": (.3, .7), "emoji": (.3, 1.8), "other": (.5, 2.), "invalid": (0, 1.),
          "spaces": (1, 0), "newlines": (1, 0)}
LOCALES = "ru th hi el he ko bg fa ta bn ka pl tr it vi zh_TW uk ur te mr".split()
BY_TOOL_OUTPUT = [("book", "English"), ("i18n_ar", "Arabic"), ("i18n_ja", "Japanese"), ("guide_ja", "Japanese"),
                  ("i18n_zh", "Chinese, simplified"), ("readme_zh", "Chinese, simplified"), ("log_", "logs"),
                  ("api_", "JSON"), ("page_", "HTML, Markdown"), ("subagent", "HTML, Markdown")]
BY_LANGUAGE = {"ar": "Arabic", "ja": "Japanese", "zh-CN": "Chinese, simplified", "zh-TW": "Chinese, traditional",
               "zh_TW": "Chinese, traditional", "ko-KR": "Korean", "ko": "Korean", "ru": "Russian", "en": "English",
               "de": "German, French, Spanish, Portuguese", "fr": "German, French, Spanish, Portuguese",
               "es": "German, French, Spanish, Portuguese", "pt": "German, French, Spanish, Portuguese",
               "uk": "Ukrainian, Bulgarian", "bg": "Ukrainian, Bulgarian", "he": "Hebrew, Persian, Urdu",
               "fa": "Hebrew, Persian, Urdu", "ur": "Hebrew, Persian, Urdu", "el": "Greek", "th": "Thai",
               "vi": "Vietnamese", "ka": "Georgian", "hi": "Hindi, Bengali, Marathi, Tamil, Telugu",
               "bn": "Hindi, Bengali, Marathi, Tamil, Telugu", "mr": "Hindi, Bengali, Marathi, Tamil, Telugu",
               "ta": "Hindi, Bengali, Marathi, Tamil, Telugu", "te": "Hindi, Bengali, Marathi, Tamil, Telugu"}


class Corpus:
    def __init__(self, kind, data, share=1.0):
        self.kind = kind
        self.text = data.decode("utf-8", "ignore")
        self.data = self.text.encode()
        self.share = share
        self.cells = [collections.defaultdict(lambda: [0, 0, 0]) for _ in range(2)]  # pieces, tokens, characters


def strings_of(value):
    pending = [value]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            pending.extend(value)
        elif isinstance(value, dict):
            pending.extend(v for k, v in value.items() if k not in ("id", "role", "type"))


def kind_of_tool_output(name):
    return next((kind for prefix, kind in BY_TOOL_OUTPUT if name.startswith(prefix)), "code, diffs, grep output")


def recorded(folder):
    """The corpora of DATA."""
    rng = random.Random(SEED)
    for path in sorted((folder / "tool_outputs").iterdir()):
        if path.name in ("README.md", "i18n_15_languages.json", "image_data_uri.txt"):
            continue
        kind = "emoji" if path.name.startswith("emoji") else kind_of_tool_output(path.name)
        share = 3.0 if kind in ("Arabic", "Chinese, simplified") else 1.0
        yield path.name, Corpus(kind, path.read_bytes(), share)
    by_language = collections.defaultdict(list)
    for translations in json.loads((folder / "tool_outputs/i18n_15_languages.json").read_text()).values():
        for language, text in translations.items():
            by_language[language].append(text)
    for language, texts in sorted(by_language.items()):
        kind = BY_LANGUAGE.get(language, "Italian, Norwegian, Turkish, Polish")
        share = SHARES_OF_I18N.get(language, 0.5 if kind.startswith("Italian") else 1.0)
        yield f"i18n, {language}", Corpus(kind, "\n".join(texts).encode(), share)
    for path in sorted((folder / "trajectories").glob("*.jsonl")):
        texts = [s for line in path.read_text().splitlines() for s in strings_of(json.loads(line)["messages"])]
        rng.shuffle(texts)
        yield path.stem, Corpus("agents' histories", "\n\n".join(texts).encode()[:800_000])
    image = (folder / "tool_outputs/image_data_uri.txt").read_bytes()
    yield "image as data URI", Corpus("base64", image[:100_000])


def generated():
    rng = random.Random(SEED)
    yield "base64, wrapped", Corpus("base64", base64.encodebytes(rng.randbytes(40_000)))
    digests = [hashlib.sha256(str(i).encode()).hexdigest() for i in range(800)]
    yield "SHA-256, small", Corpus("hex", "\n".join(digests).encode())
    yield "128 bits, capital", Corpus("hex", " ".join(rng.randbytes(16).hex().upper() for _ in range(800)).encode())
    uuids = ["-".join(rng.randbytes(n).hex() for n in (4, 2, 2, 2, 6)) for _ in range(800)]
    yield "list of UUIDs", Corpus("JSON", json.dumps([{"id": u, "n": i} for i, u in enumerate(uuids)]).encode())
    faces = "😀😂🥰🎉🚀✅❌🔥👍🏽👩‍💻🧑‍🚀🇩🇪🇯🇵❤️⭐🌍📦🐛💡🤖"
    lines = ["".join(rng.choices(faces, k=rng.randint(1, 6))) + rng.choice([" ok", " done", "", " – ", "!"])
             for _ in range(1_500)]
    yield "emoji, generated", Corpus("emoji", "\n".join(lines).encode())


def messages_of(folder, language):
    for path in sorted((folder / language / "LC_MESSAGES").glob("*.mo")):
        try:
            catalog = gettext.GNUTranslations(path.open("rb"))._catalog
        except (OSError, UnicodeDecodeError):
            continue
        for key, text in sorted(catalog.items(), key=str):
            if isinstance(text, str) and text and key and (language == "it" or not text.isascii()):
                yield text


def translated(folder):
    rng = random.Random(SEED)
    for language in LOCALES:
        texts = list(messages_of(folder, language))
        rng.shuffle(texts)
        data = "\n".join(texts).encode()[:60_000]
        if len(data) > 3_000:
            kind = BY_LANGUAGE.get(language, "Italian, Norwegian, Turkish, Polish")
            yield f"messages, {language}", Corpus(kind, data, share=SHARES.get(language, 0.1))


def split(program, corpora):
    request = b"".join(struct.pack("<I", len(c.data)) + c.data for c in corpora.values())
    answer = subprocess.run([program], input=request, stdout=subprocess.PIPE, check=True).stdout
    numbers, at = array.array("I", answer), 0
    for corpus in corpora.values():
        n = numbers[at]
        corpus.pieces = list(zip(*(numbers[at + 1 + i:at + 1 + 4 * n:4] for i in range(4))))
        at += 1 + 4 * n


def measure(corpora, encoding):
    known = {}

    def tokens_of(piece):
        if piece not in known:
            known[piece] = len(encoding.encode_ordinary(piece.decode("utf-8", "replace")))
        return known[piece]

    for corpus in corpora.values():
        corpus.tokens = len(encoding.encode_ordinary(corpus.text))
        for kind, characters, begin, end in corpus.pieces:
            cell = corpus.cells[begin // SLICE % 2][kind, min(characters, LISTED + 1)]
            cell[0] += 1
            cell[1] += tokens_of(corpus.data[begin:end])
            cell[2] += characters


def summed(cells, halves):
    total = collections.defaultdict(lambda: [0, 0, 0])
    for half in halves:
        for key, cell in cells[half].items():
            for i in range(3):
                total[key][i] += cell[i]
    return total


def row_of(name, cells):
    """Weights of one kind: [0] for each further character, [n] for n characters."""
    constant, slope = PRIORS.get(name, (.6, .5 if name.endswith("dense") else .2))
    row = [0.0] * (LISTED + 1)
    for n in range(1, LISTED + 1):
        pieces, tokens = cells.get(n, (0, 0))[:2]
        prior = max(1, constant + slope * n) if name != "invalid" else n
        if n > 1:
            prior = (prior + row[n - 1] + slope) / 2
        row[n] = (tokens + 3 * prior) / (pieces + 3)
    for n in range(2, LISTED + 1):
        row[n] = max(row[n], row[n - 1] * 0.97)
    pieces, tokens, characters = cells.get(LISTED + 1, (0, 0, 0))
    further = characters - LISTED * pieces
    row[0] = max(0.0, (tokens - row[LISTED] * pieces) / further) if pieces > 5 and further > pieces else slope
    return [round(1000 * x) for x in row]


def table_of(cells, weights):
    by_kind = [collections.defaultdict(lambda: [0.0, 0.0, 0.0]) for _ in KINDS]
    for name, weight in weights.items():
        for (kind, n), cell in cells[name].items():
            for i in range(3):
                by_kind[kind][n][i] += cell[i] * weight
    return [row_of(name, by_kind[kind]) for kind, name in enumerate(KINDS)]


def estimate_of(table, cells):
    total = 0
    for (kind, n), (pieces, _, characters) in cells.items():
        row = table[kind]
        total += row[n] * pieces if n <= LISTED else row[LISTED] * pieces + row[0] * (characters - LISTED * pieces)
    return total / 1000


def fit(corpora, halves=(0, 1), without=None, steps=40):
    cells = {name: summed(c.cells, halves) for name, c in corpora.items() if name != without}
    exact = {name: sum(cell[1] for cell in cells[name].values()) for name in cells}
    first = {name: corpora[name].share * min(1.0, LARGEST / max(1, exact[name])) for name in cells}
    weights = dict(first)
    for _ in range(steps):
        table = table_of(cells, weights)
        for name in cells:
            error = estimate_of(table, cells[name]) / exact[name] - 1
            beyond = error + 0.1 if error < -0.1 else error - 0.03 if error > 0.03 else 0.0
            weights[name] = min(max(weights[name] * math.exp(-3 * beyond), first[name] / 10), first[name] * STEEPEST)
    return table_of(cells, weights)


def slice_errors(table, corpus, encoding):
    """Errors of slices of about 4 KiB, cut between pieces."""
    errors, begin, total = [], 0, 0
    for kind, n, _, end in corpus.pieces:
        row = table[kind]
        total += row[n] if n <= LISTED else row[LISTED] + row[0] * (n - LISTED)
        if end - begin >= SLICE:
            text = corpus.data[begin:end].decode("utf-8", "replace")
            errors.append(total / 1000 / len(encoding.encode_ordinary(text)) - 1)
            begin, total = end, 0
    return errors or [0.0]


def errors_of(corpora, encoding, table):
    half = fit(corpora, halves=(0,))
    for name, c in corpora.items():
        whole = summed(c.cells, (0, 1))
        other = summed(c.cells, (1,))
        left_out = fit(corpora, without=name)
        exact_other = sum(cell[1] for cell in other.values())
        slices = slice_errors(table, c, encoding)
        yield [c.kind, name, len(c.data), c.tokens, estimate_of(table, whole) / c.tokens - 1,
               estimate_of(half, other) / exact_other - 1 if exact_other else 0.0,
               estimate_of(left_out, whole) / c.tokens - 1, min(slices), max(slices)]


HEAD = """#pragma once

#include "pieces.hpp"

namespace whittle::inline v0::pieces {

inline constexpr std::size_t longest_listed = 15;

/// Thousandths of a token: for pieces of 1 to 15 characters, and for each character beyond.
struct Weights {
    std::int32_t of_length[longest_listed];
    std::int32_t of_further_character;
};

/// Mean number of o200k tokens of a piece, by kind (in the order of `Kind`) and length. Written by
/// bench/fit_estimate.py.
inline constexpr Weights weights[kinds] = {
"""


def write_table(table):
    with open(ROOT / "src/tokens/estimate_table.hpp", "w") as out:
        out.write(HEAD)
        for name, row in zip(KINDS, table):
            out.write(f"    {{{{{', '.join(map(str, row[1:]))}}}, {row[0]}}},  // {name}\n")
        out.write("};\n\n}  // namespace whittle::inline v0::pieces\n")
    subprocess.run(["clang-format", "-i", ROOT / "src/tokens/estimate_table.hpp"], check=True)


def lines_of(rows):
    yield "kind\tcorpus\tbytes\texact\terror\thalf\tleft out\tlowest slice\thighest slice"
    for row in rows:
        yield "\t".join([str(x) for x in row[:4]] + [f"{100 * x:+.1f}" for x in row[4:]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--locales", type=pathlib.Path, default=pathlib.Path("/usr/share/locale"))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("data", type=pathlib.Path)
    options = parser.parse_args()
    encoding = record_tiktoken.load(options.data / "tokenizers", "o200k_base")
    corpora = dict(list(recorded(options.data)) + list(generated()) + list(translated(options.locales)))
    split(options.program, corpora)
    measure(corpora, encoding)
    table = fit(corpora)
    rows = sorted(errors_of(corpora, encoding, table), key=lambda row: (row[0], row[1]))
    lines = list(lines_of(rows))
    print("\n".join(lines))
    for title, column in (("whole texts", 4), ("left out", 6), ("slices of 4 KiB", 7)):
        worst = min(rows, key=lambda row: row[column])
        print(f"largest undercount, {title}: {100 * worst[column]:+.1f} % ({worst[1]})")
    print(f"median error: {100 * statistics.median(abs(row[4]) for row in rows):.1f} %")
    if options.write:
        write_table(table)
        (ROOT / "bench/estimate_errors.tsv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
