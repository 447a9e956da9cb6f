"""What a key of a configuration means is said once: by the first sentence of its member's comment. Its row in `ConfigFields` repeats it.

    check_fields.py [--write] [ROOT]    prints each row that says something else, and ends with 1 if there is one
                                        --write: first gives these rows the comments' words, and the tables of extensions' pages too

A row has neither the capital nor the period of the sentence. What only a configuration file knows may follow: `; keys as in ...`, or a list
that the program makes. A key without a member (`ModelMember`) has words of its own.
"""

import pathlib
import re
import sys

SOURCES = ("include/**/*.hpp", "src/**/*.[ch]pp", "extensions/**/*.[ch]pp", "tool/**/*.[ch]pp")
ROW_TYPES = ("ConfigField", "StoreType<", "StoreWrapper<", "ModelType<", "CounterType<", "MiddlewareType<")
LITERAL = r'"(?:[^"\\]|\\.)*"'
LITERALS = re.compile(rf"{LITERAL}(?:\s*{LITERAL})*")
STRUCT = re.compile(r"^struct (\w+)(?: : ([\w:]+))? \{(?:\n(.*?)^)?\};", re.S | re.M)
FUNCTION = re.compile(r"^(?:\[\[nodiscard\]\] )?([\w:]+(?:<[\w:]+>)?) (\w+)\(([^)]*)\) \{$", re.M)
POINTER = re.compile(r"&(\w+)::(\w+)")


def unquoted(literals):
    return re.sub(r"\\(.)", r"\1", "".join(text[1:-1] for text in re.findall(LITERAL, literals)))


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def parts_of(text, start):
    """What commas divide from `start`, behind an opening bracket, to the closing one: where each part begins, and the part."""
    parts, depth, at = [], 0, start
    while at < len(text) and depth >= 0:
        string = LITERALS.match(text, at)
        depth += 0 if string else (text[at] in "({[") - (text[at] in ")}]")
        if depth < 0 or (depth == 0 and text[at] == ","):
            part = text[start:at]
            parts.append((at - len(part.lstrip()), part.strip()))
            start = at + 1
        at = string.end() if string else at + 1
    return parts


def comments_of(body):
    """By the member's name, the comment of each member in the body of a structure."""
    comments, above, statement, name = {}, [], "", None
    for line in body.split("\n"):
        code, _, behind = (part.strip() for part in line.partition("///<"))
        if code.startswith("//"):
            above = [*above, code[3:].strip()] if code.startswith("///") else []
        elif not code and behind and name:
            comments[name] += f" {behind}"
        else:
            statement += f" {code}"
            if statement.endswith((";", "}")):
                member = re.match(r" [\w:<>(),&* ]+?[ >](\w+)(?: = |\{|;)", statement)
                name = member and member[1]
                comments[name] = " ".join([*above, behind]).strip()
                above, statement = [], ""
    return comments


def first_sentence(comment):
    text = re.match(r"(.*?)\.?(?:(?<=\.)\s.*)?$", comment)[1]
    return text[0].lower() + text[1:] if re.match(r"[A-Z][a-z ]", text) else text


class Row:
    """A text that says what a key means, and the members whose comments say it."""

    def __init__(self, file, key, begin, meaning, members):
        self.file, self.key, self.begin, self.members = file, key, begin, members
        self.literals = LITERALS.match(meaning)[0]
        text = unquoted(self.literals)
        self.ending = "" if self.literals == meaning else re.search(r"(?:: `?)?$", text)[0]  # of a list that the program makes
        self.text = text.removesuffix(self.ending)
        self.tail = re.search(r"(?:[;,] keys as in `.*)?$", self.text)[0]


class Checker:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        files = {file for pattern in SOURCES for file in self.root.glob(pattern) if "tests" not in file.relative_to(self.root).parts}
        self.texts = {file: file.read_text() for file in sorted(files)}
        self.structs = {}
        for text in self.texts.values():
            self.structs |= {name: (base, comments_of(body)) for name, base, body in STRUCT.findall(text)}
        self.rows, self.faults = [], []
        for file, text in self.texts.items():
            if any(name in text for name in ROW_TYPES):
                self.read_rows(file, text)

    def fault(self, file, at, what):
        self.faults.append(f"{file.relative_to(self.root)}:{self.texts[file].count(chr(10), 0, at) + 1}: {what}")

    def comment_of(self, struct, member):
        """None: there is no such member."""
        base, comments = self.structs.get(struct, ("", {}))
        return comments[member] if member in comments else self.comment_of(base, member) if base else None

    def meant(self, file, at, name):
        """The structure that `name` stands for there."""
        using = re.findall(rf"^\s*using {name} = (\w+);", self.texts[file][:at], re.M)
        return self.meant(file, 0, using[-1]) if using else name

    def read_rows(self, file, text):
        for brace in re.finditer(r'\{\s*(?=\.name = |"\w+",)', text):
            parts = parts_of(text, brace.end())
            row = {name[1]: (at + name.end(), part[name.end() :]) for at, part in parts if (name := re.match(r"\.(\w+) = ", part))}
            row = row or dict(zip(("name", "member", "meaning"), parts))
            if re.search(r"&\w+::\w|_?member\b", row.get("member", (0, ""))[1]):
                if "meaning" in row:
                    self.read_row(file, text, row["name"][1], row["member"][1], *row["meaning"])
                else:
                    self.fault(file, brace.start(), "a row without a meaning")

    def read_row(self, file, text, key, member, begin, meaning):
        key = unquoted(key) if key.startswith('"') else r"\w+"
        function = [found for found in FUNCTION.finditer(text, 0, begin)][-1]
        pointer = POINTER.search(member)
        helper = re.match(r"(\w+_member)\(", member)
        if pointer:
            of = (self.meant(file, begin, pointer[1]), pointer[2])
        else:
            of = self.filled_by(text, helper[1], key) if helper else (None, None)
        if of[0] in self.structs:
            return self.add(file, key, begin, meaning, [of])
        calls = list(self.calls_of(function[2], of[1]))  # of a template, whose argument is the structure
        parameter = re.fullmatch(r"std::move\((\w+)\)", meaning)
        if not calls:
            self.fault(file, begin, f"{key}: of which member?")
        elif not parameter:
            self.add(file, key, begin, meaning, [called_of for called_of, *_ in calls])
        else:
            index = [each.split()[-1] for each in function[3].split(",")].index(parameter[1])
            for called_of, called_in, arguments in calls:
                self.add(called_in, key, *arguments[index], [called_of])

    def add(self, file, key, begin, meaning, members):
        if meaning.startswith('"'):
            self.rows.append(Row(file, key, begin, meaning, members))
        else:
            self.fault(file, begin, f"{key}: the meaning begins with no text")

    def filled_by(self, text, helper, key):
        """The member that the `WordMember` of the function `helper` fills: the key's name, or the first member that it names."""
        made = next((found for found in FUNCTION.finditer(text) if found[2] == helper and "<" in found[1]), None)
        if not made:
            return None, None
        struct = re.search(r"<(\w+)>", made[1])[1]
        names = [key, *re.findall(r"\b\w+\.(\w+)", text[made.end() :])]
        return struct, next((name for name in names if self.comment_of(struct, name) is not None), None)

    def calls_of(self, function, member):
        for file, text in self.texts.items():
            for call in re.finditer(rf"\b{function}(?:<(\w+)>)?\(", text):
                arguments = parts_of(text, call.end())
                pointer = POINTER.match(arguments[0][1])
                if call[1] or pointer:
                    yield (self.meant(file, call.start(), call[1] or pointer[1]), member or pointer[2]), file, arguments

    def check(self):
        """The rows that say something else than the comments, each with what it should say."""
        wrong = []
        for row in self.rows:
            comments = {self.comment_of(*member) or "" for member in row.members}
            expected = {first_sentence(comment) + row.tail for comment in comments if comment}
            names = ", ".join("::".join(map(str, member)) for member in row.members)
            if "" in comments:
                self.fault(row.file, row.begin, f"{row.key}: no comment of {names}")
            elif len(expected) > 1:
                self.fault(row.file, row.begin, f"{row.key}: the first sentences of {names} differ")
            elif expected != {row.text}:
                self.fault(row.file, row.begin, f'{row.key}: "{row.text}" differs from the first sentence of {names}: "{min(expected)}"')
                wrong.append((row, min(expected)))
        return wrong

    def write(self, wrong):
        pages = {page: page.read_text() for page in self.root.glob("extensions/*/*.md")}
        for row, expected in sorted(wrong, key=lambda each: -each[0].begin):
            text, end = self.texts[row.file], row.begin + len(row.literals)
            self.texts[row.file] = text[: row.begin] + quoted(expected + row.ending) + text[end:]
            row.file.write_text(self.texts[row.file])
            old = re.escape(row.text + row.ending) + (r"(?=.+ \|$)" if row.ending else r"(?= \|$)")
            cell = re.compile(rf"^(\| `(?:[^`]*\.)?{row.key}` \|.*\| (?:`\w+`: )?){old}", re.M)
            pages = {page: cell.sub(lambda found: found[1] + expected + row.ending, table) for page, table in pages.items()}
        for page, table in pages.items():
            page.write_text(table)


def main():
    root = next((pathlib.Path(argument) for argument in sys.argv[1:] if argument != "--write"), pathlib.Path(__file__).parents[2])
    checker = Checker(root)
    if "--write" in sys.argv:
        checker.write(checker.check())
        checker = Checker(root)
    checker.check()
    for fault in checker.faults:
        print(fault)
    if not checker.rows:
        sys.exit(f"no rows found under {root}")
    if checker.faults:
        sys.exit(f"{len(checker.faults)} faults in {len(checker.rows)} rows; --write gives rows the comments' words")
    print(f"{len(checker.rows)} rows say what the comments of {sum(len(row.members) for row in checker.rows)} members say")


if __name__ == "__main__":
    main()
