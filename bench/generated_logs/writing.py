"""Texts, times, ids and files of generated logs."""

import json
import os

WORDS = (
    "the cart total is wrong because items are counted twice when a voucher applies check parse import return "
    "value price self list index error line test assert raise none true false const static void template"
).split()
FIRST_DAY = 1_790_000_000_000  # 2026-09-21, in milliseconds since 1970
DAY = 86_400_000
FOLDERS = ("shop", "api", "site", "tools", "ledger", "mobile", "docs", "infra")


def compact(record):
    return json.dumps(record, separators=(",", ":"))


class Texts:
    """Made once and taken again and again, since what they say does not matter."""

    def __init__(self, chance):
        self.short = [self.words(chance, 8, 60) for _ in range(100)]
        self.long = [
            "\n".join(self.words(chance, 4, 12) for _ in range(chance.choice((5, 20, 60, 120, 200)))) for _ in range(60)
        ]

    @staticmethod
    def words(chance, least, most):
        return " ".join(chance.choice(WORDS) for _ in range(chance.randrange(least, most)))


class Source:
    """What a generator draws from: one seed gives the same files."""

    def __init__(self, chance):
        self.chance = chance
        self.texts = Texts(chance)
        self.ids = 0

    def short(self):
        return self.chance.choice(self.texts.short)

    def long(self):
        return self.chance.choice(self.texts.long)

    def is_one_in(self, number):
        return self.chance.randrange(number) == 0

    def number(self):
        self.ids += 1
        return self.ids

    def uuid(self):
        return (
            f"{self.chance.getrandbits(32):08x}-{self.number():04x}-4{self.chance.getrandbits(12):03x}-"
            f"a{self.chance.getrandbits(12):03x}-{self.chance.getrandbits(48):012x}"
        )

    def word(self, length):
        return "".join(self.chance.choices("0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz", k=length))

    def start(self):
        """When a session begins: on one of sixty days."""
        return FIRST_DAY + self.chance.randrange(60) * DAY + self.chance.randrange(DAY)

    def pause(self):
        """Milliseconds between two records; a person may sleep over it."""
        if self.is_one_in(150):
            return self.chance.randrange(3_600_000, 30_000_000)
        return self.chance.randrange(900, 45_000)


class Home:
    """A home directory into which logs are written until there are `megabytes` of them."""

    def __init__(self, path, megabytes):
        self.path = path
        self.left = int(megabytes * 1e6)
        self.files = 0
        self.bytes = 0

    def is_full(self):
        return self.left <= 0

    def write(self, name, lines):
        self.put(name, "\n".join(lines) + "\n")

    def put(self, name, text):
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "x", encoding="utf-8") as out:
            out.write(text)
        self.took(len(text))

    def took(self, size, files=1):
        self.files += files
        self.bytes += size
        self.left -= size
