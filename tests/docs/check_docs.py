"""What pages say is what files say.

    check_docs.py [ROOT]    prints each fault as file:line, and ends with 1 if there is one

* A code block after `<!-- from: path#tag -->` equals the lines between `// [tag]` and `// [/tag]` (or `# [tag]`) in that file, less their
  common indentation; after `<!-- from: path -->` the whole file.
* A relative link leads to a file of the repository, and its anchor to a heading.
"""

import os
import pathlib
import re
import sys

PAGES = ("*.md", "docs/**/*.md", "extensions/**/*.md", "tool/**/*.md", "bench/**/*.md", "packaging/**/*.md", "examples/**/*.md")
MARKER = re.compile(r"<!-- from: (?:([^ #]+)(?:#(\S+))? -->)?")
LINK = re.compile(r"\]\(([^()\s]+)\)")


def region(source, tag):
    """The lines between the two marks; None if they are not there."""
    found = re.search(rf" \[{re.escape(tag)}\]\n(.*?)^[^\n]* \[/{re.escape(tag)}\]$", source, re.S | re.M)
    if not found:
        return None
    indent = re.match(r"[ \t]*", found[1])[0]
    return re.sub(rf"^{indent}", "", found[1], flags=re.M)


def first_block(text):
    found = re.search(r"^```[^\n]*\n(.*?)^```", text, re.S | re.M)
    return found[1] if found else None


def anchors(page):
    """Of its headings, as GitHub makes them."""
    found, seen = set(), {}
    text = re.sub(r"^```.*?^```", "", page, flags=re.S | re.M)
    for heading in re.findall(r"^#+ +(.*)$", text, re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "").replace("\\", "").strip().lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        count = seen.get(slug, -1) + 1
        seen[slug] = count
        found.add(f"{slug}-{count}" if count else slug)
    return found


class Checker:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.pages = sorted({p for pattern in PAGES for p in self.root.glob(pattern)})
        self.blocks = self.links = self.faults = 0

    def fault(self, page, text, at, what):
        print(f"{page.relative_to(self.root)}:{text.count(chr(10), 0, at) + 1}: {what}")
        self.faults += 1

    def check_block(self, page, text, marker):
        if not marker[1]:
            return self.fault(page, text, marker.start(), "cannot be read; write <!-- from: path#tag -->")
        name, tag = marker[1], marker[2]
        file = self.root / name
        if not file.is_file():
            return self.fault(page, text, marker.start(), f"from: {name}: no such file")
        source = file.read_text() if tag is None else region(file.read_text(), tag)
        if source is None:
            self.fault(page, text, marker.start(), f"from: {name}: no region [{tag}] ... [/{tag}] there")
        elif first_block(text[marker.end() :]) != source:
            self.fault(page, text, marker.start(), f"from: {name}: the block differs from its source, which is:\n{source}")
        self.blocks += 1

    def check_link(self, page, text, at, target):
        path, _, anchor = target.partition("#")
        file = pathlib.Path(os.path.normpath(page.parent / path)) if path else page
        if not file.exists():
            self.fault(page, text, at, f"leads nowhere: {target}")
        elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text()):
            self.fault(page, text, at, f"there is no heading #{anchor} in {file.relative_to(self.root)}")
        self.links += 1

    def check(self):
        for page in self.pages:
            text = page.read_text()
            for marker in re.finditer(MARKER, text):
                if text[: marker.start()].endswith("\n") or marker.start() == 0:
                    self.check_block(page, text, marker)
            prose = re.sub(r"^```.*?^```|`[^`\n]*`", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S | re.M)
            for link in re.finditer(LINK, prose):
                if not re.match(r"[a-z]+:", link[1]):
                    self.check_link(page, text, link.start(), link[1])


def main():
    checker = Checker(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    checker.check()
    if not checker.pages:
        sys.exit(f"no pages found under {checker.root}")
    if checker.faults:
        sys.exit(f"{checker.faults} faults in {len(checker.pages)} pages")
    print(f"{checker.blocks} code blocks equal their sources, {checker.links} links lead somewhere")


if __name__ == "__main__":
    main()
