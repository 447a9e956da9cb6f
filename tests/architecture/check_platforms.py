"""Which files ask what system, compiler or standard library this is: tests/architecture/platforms.txt lists each, with what it asks. Of
the headers it is whittle/base/platform.hpp alone.

    check_platforms.py [ROOT] [--write]    prints what differs from the list, and ends with 1 if something does
"""

import pathlib
import re
import sys

DIRECTIVE = re.compile(r"^\s*#\s*(?:if|elif|ifdef|ifndef)\b(.*)")
ASKED = re.compile(
    r"\b(_WIN32|__APPLE__|__linux__|__unix__|_MSC_VER|_MSVC_LANG|__MINGW32__|__GNUC__|__clang__|_LIBCPP_VERSION|__GLIBCXX__|__x86_64__"
    r"|__cpp_lib_\w+|__has_feature|__SANITIZE_\w+|SYS_\w+|MAP_\w+|F_OFD_\w+)\b"
)
ALLOWED_HEADER = "include/whittle/base/platform.hpp"


def found(root):
    """Of each file that asks something: its path, and what, sorted."""
    asked = {}
    for top in ("include", "src", "extensions", "tool", "tests"):
        for file in sorted((root / top).rglob("*.[ch]pp")):
            path = file.relative_to(root).as_posix()
            if "/build/" in path or "/fixtures/" in path:
                continue
            names = set()
            for line in file.read_text().split("\n"):
                if match := DIRECTIVE.match(line):
                    names.update(ASKED.findall(match[1]))
            if names:
                asked[path] = " ".join(sorted(names))
    return asked


def main():
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).parents[2]
    listed_in = root / "tests" / "architecture" / "platforms.txt"
    lines = [f"{path}: {names}" for path, names in found(root).items()]
    if "--write" in sys.argv:
        listed_in.write_text("# every file that asks for the platform, and what it asks: check_platforms.py --write\n" + "\n".join(lines) + "\n")
    offences = 0
    for line in lines:
        path = line.split(":")[0]
        if re.match(r"(extensions/[^/]+/)?include/", path) and path != ALLOWED_HEADER:
            print(f"{line}: a public header asks for the platform; {ALLOWED_HEADER} does")
            offences += 1
    listed = [line for line in listed_in.read_text().split("\n") if line and not line.startswith("#")]
    for line in sorted(set(lines) ^ set(listed)):
        print(f"{line}: {'is not in' if line in lines else 'is gone, but in'} tests/architecture/platforms.txt")
        offences += 1
    if offences:
        sys.exit(f"{offences} offences: --write makes the list anew")
    print(f"{len(lines)} files ask for the platform, one public header among them")


if __name__ == "__main__":
    main()
