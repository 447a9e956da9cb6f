"""Three trees, one rule: core <- extensions (by their DEPENDS and WITH) <- tool. Inside the core a folder includes itself and those
on lower layers, and no line of it asks for an extension.

    check_trees.py [ROOT]    prints every offence as file:line, and ends with 1 if there is one. The rules are data, below.
"""

import os
import pathlib
import re
import sys

# The core's layers, from below. Folders of one layer never include each other. A folder that is not in the list is a middleware.
LAYERS = """
base
fields
message
tokens
storage model
conversation
chain
summary
pruning
reduction trimming summarization token_saving compaction
preset loop
"""
LAYER = {folder: i for i, line in enumerate(LAYERS.split("\n")) for folder in line.split()}
LAYER_OF_MIDDLEWARES = LAYER["reduction"]

# Which third-party headers may appear where.
GUARDED = {
    r"nlohmann/": r"(extensions|tool|tests|examples|bench|fuzz|packaging)/|src/base/json\.cpp$",
    r"spdlog/": r"(extensions/spdlog|tool|tests|examples|bench)/",
    r"fmt/": r"(src|tool|tests|examples|bench|packaging|extensions/[^/]+/(src|tests|examples|fuzz))/",
    r"CLI/": r"tool/",
    r"(zlib|zstd)\.h": r"tool/",
    r"curl/": r"extensions/http/src/",
    r"sqlite3\.h": r"(extensions/sqlite/(src|tests)|bench)/|tool/commands/read_database",
    r"hiredis/": r"(extensions/redis/(src|tests)|bench)/",
    r"sodium\.h": r"(extensions/encryption/src|bench)/",
}

# The library prints nothing, reads no environment, ends no process, and std::regex overflows the stack on long input.
LIBRARY = r"(include|src|extensions/[^/]+/(include|src)|tool/(logs|replay|evaluation))/"
FORBIDDEN = re.compile(r"(?<!\w)(std::regex|std::c(?:out|err|log)|[fv]*printf\(|puts\(|fmt::print|getenv\(|std::abort\()|(?:^|[;{}])\s*(abort\()")

MOST_LINES = 500
MOST_ADAPTER_LINES = 250  # of a runtime: to be read and copied whole
MOST_PUBLIC_HEADERS = 70  # of the core, outside detail/: what users read

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
TOPS = "include src extensions tool tests examples bench fuzz packaging".split()


class Checker:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.offences = 0
        folders = [p.name for top in ("include/whittle", "src") for p in (self.root / top).glob("*") if p.is_dir()]
        self.layer = dict.fromkeys(folders, LAYER_OF_MIDDLEWARES) | LAYER
        folder = self.root / "extensions"
        self.extensions = sorted(p.name for p in folder.iterdir()) if folder.is_dir() else []
        self.may_name = {name: self.names_in(name) for name in self.extensions}
        # What a line of the core's code would ask an extension for: its names, whether it is there, its types.
        names = "|".join(name for name in self.extensions if (folder / name / "include").is_dir()) or "-"
        self.asks = re.compile(rf"dynamic_cast<|WHITTLE_HAVE_|\b(?:{names})::")

    def offend(self, path, line, text):
        print(f"{path}:{line}: {text}")
        self.offences += 1

    def names_in(self, name):
        """The extensions that the line of CMake names, but for its tests."""
        file = self.root / "extensions" / name / "CMakeLists.txt"
        call = re.search(r"whittle_extension\(([^)]*)\)", file.read_text()) if file.exists() else None
        if not call:
            return set()
        words = re.sub(r'"[^"]*"', "", call[1].split("TESTS")[0])
        lists = re.findall(r"(?:DEPENDS|WITH)((?:\s+[a-z_]+)+)", words)
        return {word for text in lists for word in text.split()}

    def check_dependencies(self):
        for name in self.extensions:
            reached, next_ones = set(), list(self.may_name[name])
            while next_ones:
                other = next_ones.pop()
                if other not in reached:
                    reached.add(other)
                    next_ones += self.may_name.get(other, ())
            if name in reached:
                self.offend(f"extensions/{name}/CMakeLists.txt", 1, f"the extension `{name}` depends on itself")

    def check_own_include(self, path, line, target):
        """`target`: below whittle/."""
        other, slash, _ = target.partition("/")
        extension = re.match(r"extensions/([^/]+)/", path)
        folder = re.match(r"(?:include/whittle|src)/([^/]+)/", path)
        if not slash:
            if re.match(LIBRARY, path) and path != "include/whittle/whittle.hpp":
                self.offend(path, line, f"includes whittle/{target}: the umbrella is for users")
        elif extension and other not in self.layer and other not in self.may_name.get(extension[1], set()) | {extension[1]}:
            self.offend(path, line, f"the extension `{extension[1]}` includes {target}: `{other}` is not in its DEPENDS")
        elif (folder or path == "include/whittle/whittle.hpp") and other not in self.layer:
            self.offend(path, line, f"the core includes {target}: `{other}` is no folder of the core")
        elif folder and folder[1] in self.layer and other != folder[1] and self.layer[other] >= self.layer[folder[1]]:
            self.offend(path, line, f"`{folder[1]}` includes {target}: `{other}` is not on a lower layer")

    def check_include(self, path, line, is_quoted, target):
        if re.match(r"(include|src|tool|extensions/[^/]+/(include|src))/", path) and not re.match(r"tool/(tests|examples|fuzz)/", path):
            if target.startswith("whittle/"):
                self.check_own_include(path, line, target[len("whittle/") :])
            elif is_quoted and target.startswith("../"):
                resolved = os.path.normpath(os.path.join(os.path.dirname(path), target))
                home = re.match(r"extensions/[^/]+/|tool/", path)
                trees = rf"{home[0]}{'' if home[0] == 'tool/' else '(include|src)/'}" if home else r"(include|src)/"
                inner = re.match(r"(?:include/whittle|src)/(.+)", resolved)
                if not re.match(trees, resolved):
                    self.offend(path, line, f"includes {target}, which is outside its tree")
                elif inner:
                    self.check_own_include(path, line, inner[1])
        for guard, allowed in GUARDED.items():
            if re.match(guard, target) and not re.match(allowed, path):
                self.offend(path, line, f"includes {target}, which has no place here")
        if target == "regex" and re.match(LIBRARY, path):
            self.offend(path, line, "the library does not use std::regex")

    def check_code(self, path, line, text):
        found = FORBIDDEN.search(text) or self.asks.search(text)
        if not found:
            return
        code = re.sub(r"//.*$", "", re.sub(r'"[^"]*"', '""', text))  # neither in comments nor in string literals
        if found := FORBIDDEN.search(code):
            self.offend(path, line, f"the library does not use {(found[1] or found[2]).replace('(', '()')}")
        if re.match(r"(include|src)/", path) and (found := self.asks.search(code)):
            self.offend(path, line, f"the core asks for an extension: `{found[0]}`")

    def check_file(self, path):
        folder = re.match(r"(?:include/whittle|src)/([^/]+)/", path)
        header = re.match(r"extensions/([^/]+)/include/whittle/([^/]+)/", path)
        if re.match(r"(include/whittle|src)/[^/]+$", path) and path != "include/whittle/whittle.hpp":
            self.offend(path, 1, "is in no folder of the core")
        elif header and header[1] != header[2]:
            self.offend(path, 1, f"has no place here: headers of the extension are in include/whittle/{header[1]}/")
        lines = (self.root / path).read_text(errors="replace").split("\n")
        lines = lines[:-1] if lines[-1] == "" else lines
        for number, text in enumerate(lines, 1):
            if include := INCLUDE.match(text):
                self.check_include(path, number, include[1] == '"', include[2])
            elif re.match(LIBRARY, path):
                self.check_code(path, number, text)
        number = len(lines)
        if number > MOST_LINES and re.match(r"(include|src|extensions/[^/]+/(include|src)|tool)/", path) and not path.startswith("tool/tests/"):
            self.offend(path, number, f"has {number} lines; a file has at most {MOST_LINES}")
        elif number > MOST_ADAPTER_LINES and path.startswith("extensions/hosts/include/"):
            self.offend(path, number, f"has {number} lines; an adapter has at most {MOST_ADAPTER_LINES}")

    def check(self):
        files = [p for top in TOPS for p in (self.root / top).rglob("*") if p.suffix in (".hpp", ".cpp", ".h") and p.is_file()]
        paths = sorted(p.relative_to(self.root).as_posix() for p in files)
        paths = [p for p in paths if not p.startswith("tests/architecture/fixtures/")]
        for path in paths:
            self.check_file(path)
        self.check_dependencies()
        public = [p for p in paths if p.startswith("include/") and "/detail/" not in p]
        if len(public) > MOST_PUBLIC_HEADERS:
            self.offend("include/whittle", 1, f"has {len(public)} headers outside detail/; users get at most {MOST_PUBLIC_HEADERS}")
        return len(paths)


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]
    checker = Checker(root)
    files = checker.check()
    if files == 0:
        sys.exit(f"no files found under {root}")
    if checker.offences:
        sys.exit(f"{checker.offences} offences against the trees in {files} files")
    print(f"{files} files keep to their trees")


if __name__ == "__main__":
    main()
