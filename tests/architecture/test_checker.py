"""test_checker.py CHECKER FIXTURES: the checker accepts the tree `good`, and reports each planted offence of the tree `bad`, with its
line, and no other. expected.txt lists how the reports begin."""

import pathlib
import subprocess
import sys

checker, fixtures = sys.argv[1], pathlib.Path(sys.argv[2])


def check(tree):
    done = subprocess.run([sys.executable, checker, fixtures / tree], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


status, told = check("good")
if status != 0:
    sys.exit(f"offences found in a tree that has none:\n{told}")
status, told = check("bad")
if status == 0:
    sys.exit(f"no offence found in a tree full of them:\n{told}")
expected = (fixtures / "bad" / "expected.txt").read_text().splitlines()
for beginning in expected:
    if not any(line.startswith(beginning) for line in told.splitlines()):
        sys.exit(f"not reported: {beginning}\n{told}")
if f"{len(expected)} offences" not in told:
    sys.exit(f"{len(expected)} offences are planted, but the checker says:\n{told}")
