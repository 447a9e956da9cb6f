"""Lays the pages of the site below one folder, in the places that they have in the repository.

    stage.py FOLDER    Markdown as it is, less HTML comments; files and folders that it links to, as pages of their own

So a link that leads somewhere on GitHub leads to the same in the site. A file that is no page is shown with its lines
numbered; links to it are turned into links to that page.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import headers

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ("*.md", "docs/**/*.md", "extensions/**/*.md", "tool/**/*.md", "bench/**/*.md", "packaging/**/*.md", "LICENSE", "NOTICE")
PICTURES = (".svg", ".png", ".jpg", ".gif", ".webp")
LANGUAGES = {".hpp": "cpp", ".cpp": "cpp", ".h": "cpp", ".py": "python", ".json": "json", ".cmake": "cmake", ".yml": "yaml", ".sh": "bash", ".mjs": "js", ".js": "js"}
FENCED = re.compile(r"^( *)(```+)[^\n]*\n.*?^\1\2 *$", re.S | re.M)
CODE = re.compile(r"(?<!`)(`+)(?!`)(?:(?!\n\n).)+?(?<!`)\1(?!`)", re.S)
LINK = re.compile(r"\]\(([^()\s]+)\)")
COMMENT = re.compile(r"<!--.*?-->\n?", re.S)
NESTED = re.compile(r"^ {2,3}(?=(?:[*+-]|\d+\.) )", re.M)


def tracked_files():
    """Those of the checkout; without git, those that are there."""
    told = subprocess.run(["git", "ls-files", "-zco", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if told.returncode == 0 and told.stdout:
        return {name for name in told.stdout.split("\0") if name and (ROOT / name).is_file()}
    found = (p.relative_to(ROOT) for p in ROOT.rglob("*") if p.is_file())
    return {str(p) for p in found if p.parts[0] not in (".git", "build")}


def outside_code(text, change):
    """`change` applied to what stands in neither a fenced block nor a code span."""
    done, at = [], 0
    spans = sorted((m.span() for m in FENCED.finditer(text)))
    for begin, end in [*spans, (len(text), len(text))]:
        stretch = text[at:begin]
        inner = 0
        for code in CODE.finditer(stretch):
            done += [change(stretch[inner : code.start()]), code[0]]
            inner = code.end()
        done += [change(stretch[inner:]), text[begin:end]]
        at = end
    return "".join(done)


class Stage:
    def __init__(self, folder):
        self.folder = folder
        self.files = tracked_files()
        self.folders = {str(parent) for file in self.files for parent in pathlib.PurePosixPath(file).parents} - {"."}
        self.pages = sorted({str(p.relative_to(ROOT)) for pattern in PAGES for p in ROOT.glob(pattern)} & self.files)
        self.shown = set()  # files and folders that get a page since a link leads to them
        self.waiting = []

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def page_of(self, name):
        """Where a file or folder of the repository is in the site; None if it is not of the repository."""
        if name in self.pages:
            return name if name.endswith(".md") else f"{name}.md"
        if name in self.folders:
            if f"{name}/README.md" in self.pages:
                return f"{name}/README.md"
            return self.show(name, f"{name}/index.md")
        if name not in self.files:
            return None
        if name.endswith(PICTURES):
            self.shown.add(name)
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.folder / name)
            return name
        return self.show(name, f"{name}.md")

    def show(self, name, page):
        if name not in self.shown:
            self.shown.add(name)
            self.waiting.append(name)
        return page

    def with_links(self, page, text):
        def turn(link):
            path, hash_, anchor = link[1].partition("#")
            if not path or re.match(r"[a-z]+:", path):
                return link[0]
            folder = os.path.dirname(page)
            target = self.page_of(os.path.normpath(os.path.join(folder, path)))
            if target is None:
                sys.exit(f"{page}: leads nowhere: {link[1]}")
            # Lines of a file: GitHub's #L12 is the anchor of that line here too.
            return f"]({os.path.relpath(target, folder or '.')}{hash_}{anchor})"

        return LINK.sub(turn, text)

    def stage_page(self, name):
        text = (ROOT / name).read_text()
        if not name.endswith(".md"):
            return self.write(f"{name}.md", f"# {name}\n\n```text\n{text}```\n")
        text = outside_code(text, lambda part: COMMENT.sub("\n", part))  # a block before a fence ends with an empty line
        # Markdown's first implementation, which MkDocs has, wants lists inside lists by four columns.
        text = outside_code(text, lambda part: NESTED.sub("    ", part))
        text = outside_code(text, lambda part: self.with_links(name, part)) if "](" in text else text
        self.write(name, ("---\nhide:\n  - navigation\n---\n" if name == "README.md" else "") + text)

    def show_file(self, name):
        text = (ROOT / name).read_text(errors="replace")
        language = LANGUAGES.get(pathlib.PurePosixPath(name).suffix, "text")
        fence = "`" * (3 + max((len(run) for run in re.findall(r"`{3,}", text)), default=0))
        head = "---\nsearch:\n  exclude: true\nhide:\n  - toc\n---\n"
        anchors = f'linenums="1" title="{name}"'
        self.write(f"{name}.md", f"{head}# {os.path.basename(name)}\n\n{fence}{language} {anchors}\n{text.rstrip()}\n{fence}\n")

    def show_folder(self, name):
        below = sorted({f[len(name) + 1 :].split("/")[0] for f in self.files if f.startswith(name + "/")})
        rows = []
        for entry in below:
            path = f"{name}/{entry}"
            if path in self.pages or path in self.shown or (path in self.folders and f"{path}/README.md" in self.pages):
                rows.append(f"* [{entry}]({os.path.relpath(self.page_of(path), name)})")
            else:
                rows.append(f"* `{entry}{'/' if path in self.folders else ''}`")
        head = "---\nsearch:\n  exclude: true\nhide:\n  - toc\n---\n"
        self.write(f"{name}/index.md", f"{head}# {name}/\n\n" + "\n".join(rows) + "\n")

    def run(self):
        for page in self.pages:
            self.stage_page(page)
        for header in headers.public_headers():
            self.page_of(header)
        folders = [name for name in self.waiting if name in self.folders]
        for name in self.waiting:
            if name not in self.folders:
                self.show_file(name)
        for name in folders:
            self.show_folder(name)
        for name in ("site.css", "favicon.svg"):
            shutil.copy(pathlib.Path(__file__).with_name(name), self.folder / name)
        print(f"{len(self.pages)} pages, {len(self.shown)} files and folders that they lead to")


if __name__ == "__main__":
    Stage(pathlib.Path(sys.argv[1])).run()
