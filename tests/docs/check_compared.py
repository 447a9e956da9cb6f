"""bench/compared.md says what whittle does beside others. In its tables

* each link to a file of a folder tests/ is followed by the name of a test in double quotes; the file exists and has that name,
* a Y of whittle has such a link; rows are numbered from 1; the text above gives the counts of Y, P and N.

    check_compared.py [ROOT]    prints each fault, and ends with 1 if there is one
"""

import collections
import pathlib
import re
import sys

LINK_TO_TEST = re.compile(r'\]\(\.\./((?:[^)]*/)?tests/[^)]*)\)(?: "([^"]*)")?')


def faults_of(root, table):
    for path, name in LINK_TO_TEST.findall(table):
        file = root / path
        if not file.is_file():
            yield f"{path}: no such file"
        elif not name:
            yield f"{path}: no name of a test in double quotes stands behind this link"
        elif f'"{name}"' not in file.read_text():
            yield f'{path}: has no test "{name}"'
    counts, rows = collections.Counter(), re.findall(r"^\| (\d+)\. [^|]*(?: \| | \|$)(.*)$", table, re.M)
    for expected, (number, cells) in enumerate(rows, 1):
        cell = cells.split(" | ")[0]
        if int(number) != expected:
            yield f"row {expected} has the number {number}"
        if not re.match(r"[YPN]\b", cell):
            yield f"row {number}: whittle's verdict is none of Y, P and N"
            continue
        counts[cell[0]] += 1
        if cell[0] == "Y" and not LINK_TO_TEST.search(cell):
            yield f"row {number}: a Y without a link to its test"
    if not rows:
        yield "no row has a number"
    told = f"whittle: {counts['Y']} Y, {counts['P']} P, {counts['N']} N."
    if told not in table:
        yield f'the table\'s counts are not given above it: "{told}"'


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]
    table = (root / "bench" / "compared.md").read_text()
    faults = list(faults_of(root, table))
    for fault in faults:
        print(f"bench/compared.md: {fault}")
    if faults:
        sys.exit("bench/compared.md says what the tests do not show")
    print(f"{len(re.findall(r'^. [0-9]+[.] ', table, re.M))} rows and {len(LINK_TO_TEST.findall(table))} names of tests agree with the tests")


if __name__ == "__main__":
    main()
