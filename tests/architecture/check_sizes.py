"""The core stays small enough to be read: no class has too many lines or data members, no function too many lines, and most are short. The
limits stand in tests/architecture/sizes.txt.

    check_sizes.py [ROOT] [--list]    prints each offence as file:line, and ends with 1 if there is one; --list: the largest of each

Counted are include/ and src/. Lines of a function: from its name to its closing brace. Lines of a class: its body, and its members that are
defined elsewhere. Structures of settings (`...Config`, and others without a private member) may have more members: they are read one field
at a time.
"""

import collections
import pathlib
import re
import sys

COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
DIRECTIVE = re.compile(r"^#(?:[^\n]*\\\n)*[^\n]*", re.M)
TEMPLATE = re.compile(r"^\s*template\s*<(?:[^<>()]|<[^<>]*>|\([^()]*\))*>\s*(?:requires\s[^{]*?\s(?=class|struct))?")
TYPE = re.compile(r"^\s*(?:\w+\s+)*?(class|struct|union|enum)\b(?:\s+(?:class|struct))?\s+([\w:]+)")
QUALIFIED = re.compile(r"(\w+)::~?(?:operator\s*)?[^\s:(]*\s*$")
NO_MEMBER = re.compile(r"\s*(using|friend|typedef|static|static_assert|template|enum|class|struct|union|inline)\b|\s*$")


def blanked(text):
    """The text without comments, literals and directives, each line in its place. Digits keep their separators out of the way."""
    spaces = lambda found: re.sub(r"[^\n]", " ", found.group())
    text = re.sub(r"(?<=\d)'(?=\d)", "0", text)
    return DIRECTIVE.sub(spaces, COMMENT_OR_TEXT.sub(lambda f: '""' + spaces(f)[2:] if f.group()[0] in "R\"" else spaces(f), text))


def closing(text, at):
    depth = 0
    for found in re.compile(r"[{}]").finditer(text, at):
        depth += 1 if found.group() == "{" else -1
        if depth == 0:
            return found.start()
    raise ValueError("a brace is not closed")


def without_angles(text):
    before = None
    while before != text:
        before, text = text, re.sub(r"<[^<>]*>", "", text)
    return text


class Source:
    """What one file declares."""

    def __init__(self, path, text):
        self.path, self.text = path, blanked(text)
        self.functions = []  # (lines, line, name, class)
        self.classes = []  # (name, line, lines, members, is_plain)
        self.scan(0, len(self.text), None)

    def line(self, at):
        return self.text.count("\n", 0, at) + 1

    def scan(self, begin, end, owner):
        """Declarations of a namespace or a class. Returns the number of data members, and whether any is private."""
        start, at, members, is_plain = begin, begin, 0, True
        while at < end:
            c = self.text[at]
            if c == ":" and self.text[at + 1] != ":" and re.fullmatch(r"\s*(public|protected|private)\s*", self.text[start:at]):
                is_plain = is_plain and "public" in self.text[start:at]
                start = at + 1
            elif c == ";":
                members += self.members(self.text[start:at]) if owner else 0
                start = at + 1
            elif c == "{":
                last = closing(self.text, at)
                if self.declare(start, at, last, owner):
                    start = last + 1
                at = last
            at += 1
        return members, is_plain

    def members(self, statement):
        if NO_MEMBER.match(statement):
            return 0
        statement = without_angles(re.sub(r"\{[^{}]*\}|\[\[.*?\]\]", "", re.sub(r"\{[^{}]*\}", "", statement)))
        statement = re.sub(r"=[^,(]*(\([^()]*\))?[^,]*", "", statement)
        return 0 if "(" in statement else 1 + statement.count(",")

    def declare(self, start, at, last, owner):
        """What the braces [at, last] are the body of. False: an initializer, and the statement goes on."""
        head = TEMPLATE.sub("", re.sub(r"\[\[.*?\]\]", "", self.text[start:at]))
        where = start + len(self.text[start:at]) - len(self.text[start:at].lstrip())
        if re.match(r"\s*(inline\s+)?namespace\b|\s*extern\s", head):
            self.scan(at + 1, last, owner)
            return True
        plain = without_angles(head)
        kind = TYPE.match(plain)
        if kind and "(" not in plain:
            if kind.group(1) != "enum":
                name = kind.group(2).split("::")[-1]
                members, is_plain = self.scan(at + 1, last, name)
                self.classes.append((name, self.line(where), self.line(last) - self.line(where) + 1, members, is_plain))
            return False  # the semicolon follows
        is_lambda = re.search(r"=.*\]\s*(\([^()]*\))?[^()]*$", plain, re.S) and "[" in plain
        if not is_lambda and (("=" in plain and "operator" not in plain) or not re.search(r"[)\w]\s*(\(|:)?", plain) or "(" not in plain):
            return False
        if re.search(r"\)[^:]*:[^:]", plain) and re.search(r"[\w>]\s*$", head) and not re.search(r"\)\s*(const|noexcept|override|\s)*$", plain):
            return False  # a member that a constructor initialises
        name = plain.split("(")[0]
        qualified = QUALIFIED.search(name)
        begin = self.line(where)
        words = name.split() or [name]
        self.functions.append((self.line(last) - begin + 1, begin, words[-1], owner, qualified and qualified.group(1)))
        return True


def sources(root):
    for folder in (root / "include", root / "src"):
        for file in sorted(folder.rglob("*.[hc]pp")):
            yield Source(file.relative_to(root).as_posix(), file.read_text())


def classes_of(files):
    """Of each class: lines, members, where, name, whether it is a plain structure."""
    by_name = collections.defaultdict(list)
    for file in files:
        for name, line, lines, members, is_plain in file.classes:
            by_name[name].append([lines, members, f"{file.path}:{line}", name, is_plain])
    for file in files:
        for lines, _, _, owner, qualified in file.functions:
            if owner is None and qualified in by_name:
                same = by_name[qualified]
                next((c for c in same if c[2].startswith(file.path + ":")), same[0])[0] += lines
    return [one for same in by_name.values() for one in same]


def limits_of(root):
    lines = (root / "tests/architecture/sizes.txt").read_text().splitlines()
    return {name: int(value) for name, value in (line.rsplit(" ", 1) for line in lines if line and not line.startswith("#"))}


def main():
    arguments = [a for a in sys.argv[1:] if a != "--list"]
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).parents[2]
    files = list(sources(root))
    functions = sorted(((f[0], f"{file.path}:{f[1]}", f[2]) for file in files for f in file.functions), reverse=True)
    classes = sorted(classes_of(files), key=lambda c: c[0], reverse=True)
    if not functions:
        sys.exit(f"no functions found under {root}")
    if "--list" in sys.argv:
        for lines, where, name in functions[:25]:
            print(f"{where}: function {name}: {lines} lines")
        for lines, members, where, name, _ in classes[:15]:
            print(f"{where}: class {name}: {lines} lines, {members} members")
        for lines, members, where, name, is_plain in sorted(classes, key=lambda c: c[1], reverse=True)[:25]:
            print(f"{where}: {'struct' if is_plain else 'class'} {name}: {members} members, {lines} lines")
    limits = limits_of(root)
    offences = []

    def judge(what, where, length, limit):
        if length > limits[limit]:
            offences.append(f"{where}: {what}: {length} {'members' if 'members' in limit else 'lines'}, {limits[limit]} are allowed")

    for lines, where, name in functions:
        judge(f"function {name}", where, lines, "function lines")
    for lines, members, where, name, is_plain in classes:
        judge(f"class {name}", where, lines, "class lines")
        if not is_plain:
            judge(f"class {name}", where, members, "class members")
    lengths = sorted(f[0] for f in functions)
    told = []
    for share in (50, 90, 99):
        length = lengths[min(len(lengths) - 1, len(lengths) * share // 100)]
        told.append(f"{share} of 100 have at most {length} lines")
        judge(f"{share} of 100 functions", "include and src", length, f"lines of {share} of 100 functions")
    for offence in offences:
        print(offence)
    if offences:
        sys.exit(f"{len(offences)} offences: what is too large to be read as one thing")
    print(f"{len(classes)} classes and {len(functions)} functions: {', '.join(told)}, the largest {lengths[-1]}")


if __name__ == "__main__":
    main()
