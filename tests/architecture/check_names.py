"""The single header compiles all sources of whittle::whittle as one: what they declare in unnamed namespaces has names that differ from
each other and from what headers declare.

    check_names.py [ROOT]    prints each name that two files share, as file:line, and ends with 1 if there is one

It reads declarations as clang-format writes them: at the start of a line.
"""

import pathlib
import re
import sys

TYPE = re.compile(r"(?:class|struct|enum|enum class|union|concept) (\w+)|using (\w+) =")
FUNCTION_OR_VALUE = re.compile(r".*? [*&]*([A-Za-z_]\w*)(?:[({;[]| =)")
NO_DECLARATION = re.compile(r"[ }/#)]|template|requires|public:|private:|protected:|namespace|inline namespace|static_assert|$")


def declarations(path, lines):
    """Of each: its line, its name, the line's text, and whether it is in an unnamed namespace."""
    is_unnamed = False
    for number, line in enumerate(lines, 1):
        if line == "namespace {":
            is_unnamed = True
        elif line == "}  // namespace":
            is_unnamed = False
        elif (is_unnamed or path.endswith(".hpp")) and not NO_DECLARATION.match(line):
            text = re.sub(r" *//.*", "", line)
            found = TYPE.match(text) or FUNCTION_OR_VALUE.match(text)
            if found:
                yield number, next(name for name in found.groups() if name), text, is_unnamed


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]
    folders = [(root / "include" / "whittle", "*.hpp"), (root / "src", "*.hpp"), (root / "src", "*.cpp")]
    declared, offences = {}, 0
    for folder, pattern in folders:
        for file in sorted(folder.rglob(pattern)):
            path = file.relative_to(root).as_posix()
            for number, name, text, is_unnamed in declarations(path, file.read_text().split("\n")):
                other, at, before = declared.setdefault(name, (path, number, text))
                is_same_alias = text.startswith("using") and text == before
                if is_unnamed and other != path and not is_same_alias:
                    print(f"{path}:{number}: `{name}` is in an unnamed namespace, and declared in {other}:{at}")
                    offences += 1
    if not declared:
        sys.exit(f"no names found under {root}")
    if offences:
        sys.exit(f"{offences} offences: names in unnamed namespaces that stand for two things")
    print(f"names in unnamed namespaces differ from each other and from {len(declared)} names in all")


if __name__ == "__main__":
    main()
