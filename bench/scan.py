#!/usr/bin/env python3
"""Is `whittle scan` linear, and how much memory does it take?  bench/scan.py WHITTLE [MEGABYTES]

`bench/scan.py --logs FOLDER MEGABYTES` only writes the logs.

Writes Claude Code logs of MEGABYTES (default 100; sessions of 250 calls, about 1 MB each) into a temporary folder and
scans a quarter, a half and all of them. Prints the processor time per megabyte, the same for each of the three presets
that are run (a scan runs the session as recorded and with everything sent too), and the largest memory."""
import json
import os
import random
import subprocess
import sys
import tempfile
import time

CALLS = 250
WORDS = ("the cart total is wrong because items are counted twice when a voucher applies check parse import return "
         "value price self list index error line test assert raise none true false const static void template").split()


def prose(chance, words):
    return " ".join(chance.choice(WORDS) for _ in range(words))


def code(chance, lines):
    return "\n".join(f"{'    ' * chance.randrange(3)}{chance.choice(WORDS)}_{chance.randrange(500)} = "
                     f"{prose(chance, chance.randrange(1, 9))}({chance.randrange(10000)})" for _ in range(lines))


class Session:
    """The lines of one log: a call is a text and a tool call, a line each, then its result."""

    def __init__(self, number):
        self.chance = random.Random(number)
        self.number = number
        self.lines = []
        self.parent = None

    def add(self, kind, message, extra=None):
        uuid = f"{self.number:08x}-{len(self.lines):08x}"
        second = 4 * len(self.lines)
        self.lines.append(json.dumps({
            "parentUuid": self.parent, "isSidechain": False, "userType": "external", "cwd": "/home/ann/shop",
            "sessionId": f"session-{self.number}", "version": "2.1.48", "gitBranch": "main", "type": kind,
            "message": message, **(extra or {}), "uuid": uuid,
            "timestamp": f"2026-03-{1 + second // 86400:02}T{second // 3600 % 24:02}:{second // 60 % 60:02}:"
                         f"{second % 60:02}.000Z"}))
        self.parent = uuid

    def call(self, number, context):
        usage = {"input_tokens": 8, "cache_creation_input_tokens": 900, "cache_read_input_tokens": context,
                 "output_tokens": 180}
        head = {"model": "claude-sonnet-4-5", "id": f"msg_{self.number}_{number}", "type": "message",
                "role": "assistant", "stop_reason": "tool_use", "usage": usage}
        tool = self.chance.choice(["Read", "Read", "Bash", "Grep", "Edit"])
        given = {"file_path": f"/home/ann/shop/{self.chance.randrange(60)}.py"} if tool in ("Read", "Edit") else {
            "command": prose(self.chance, 6)}
        use = f"toolu_{self.number}_{number}"
        self.add("assistant", {**head, "content": [{"type": "text", "text": prose(self.chance, 30)}]})
        self.add("assistant", {**head, "content": [{"type": "tool_use", "id": use, "name": tool, "input": given}]})
        text = code(self.chance, self.chance.choice([3, 10, 30, 90, 160]))
        self.add("user", {"role": "user", "content": [{"tool_use_id": use, "type": "tool_result", "content": text}]})

    def text(self):
        self.add("user", {"role": "user", "content": prose(self.chance, 40)})
        for number in range(CALLS):
            self.call(number, 4000 + 900 * number)
            if number % 25 == 24:
                self.add("user", {"role": "user", "content": prose(self.chance, 30)})
        return "\n".join(self.lines) + "\n"


def write_logs(folder, size):
    files = []
    written = 0
    while written < size:
        files.append(os.path.join(folder, f"{len(files):06}.jsonl"))
        with open(files[-1], "w", encoding="utf-8") as file:
            written += file.write(Session(len(files)).text())
    return files


def scan(whittle, folder):
    """Processor seconds, seconds, and the largest memory in MB."""
    start = time.monotonic()
    process = subprocess.Popen([whittle, "scan", folder, "--json"], stdout=subprocess.PIPE)
    report = json.loads(process.stdout.read())
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, status
    assert report["total"]["sessions"] == len(os.listdir(folder)), "not every session was read"
    return usage.ru_utime + usage.ru_stime, time.monotonic() - start, usage.ru_maxrss / 1024


def main(whittle, megabytes):
    with tempfile.TemporaryDirectory() as folder:
        files = write_logs(folder, megabytes * 1e6)
        print(f"{len(files)} sessions of {CALLS} calls")
        print(f"{'MB':>7} {'seconds':>8} {'processor':>9} {'MB/s':>6} {'MB/s of a preset':>17} {'memory MB':>9}")
        for share in (4, 2, 1):
            with tempfile.TemporaryDirectory(dir=folder) as part:
                for file in files[:len(files) // share]:
                    os.link(file, os.path.join(part, os.path.basename(file)))
                size = sum(os.path.getsize(os.path.join(part, name)) for name in os.listdir(part)) / 1e6
                processor, seconds, memory = scan(whittle, part)
                print(f"{size:7.0f} {seconds:8.1f} {processor:9.1f} {size / seconds:6.1f} {3 * size / processor:17.1f} "
                      f"{memory:9.0f}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--logs":
        write_logs(sys.argv[2], float(sys.argv[3]) * 1e6)
        sys.exit()
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(sys.argv[1], float(sys.argv[2]) if len(sys.argv) == 3 else 100)
