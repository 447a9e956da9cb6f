"""The public headers as Doxygen 1.9 can read them: headers.py FOLDER

They are copied to FOLDER/include/... and FOLDER/extensions/..., each line on its number. The inline namespace goes, since
its name would be in that of all others; what stands in a namespace `detail` goes, and so do specialisations of `std`.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def public_headers():
    headers = [*ROOT.glob("include/whittle/**/*.hpp"), *ROOT.glob("extensions/*/include/whittle/**/*.hpp")]
    return sorted(str(h.relative_to(ROOT)) for h in headers if "detail" not in h.relative_to(ROOT).parts)


def only_lines(found):
    return "\n" * found[0].count("\n")


def readable(text):
    text = re.sub(r"^namespace [^\n]*\bdetail \{$.*?^\}  // namespace [^\n]*\bdetail$", only_lines, text, flags=re.S | re.M)
    text = re.sub(r"^template <>\nstruct std::\w+<[^;{]*(;|\{[^}]*\};)$", only_lines, text, flags=re.M)
    # Definitions of what is declared in `detail`.
    text = re.sub(r"^template <[^;{]*\bdetail::\w+\([^;{]*\{$.*?^\}$", only_lines, text, flags=re.S | re.M)
    text = re.sub(r"^inline [^;{(]*\bdetail::\w+\([^\n]*\}$", only_lines, text, flags=re.M)
    # A concept that goes on after a requires-expression ends there for Doxygen, and what follows it is lost.
    text = re.sub(r"= requires \{[^}]*\}\n&&\(", lambda found: "=" + only_lines(found) + "(", text)
    text = text.replace("\ninline namespace v0 {\n", '\nextern "C++" {\n')
    return text.replace("namespace whittle::inline v0", "namespace whittle")


def main():
    for header in public_headers():
        copy = pathlib.Path(sys.argv[1]) / header
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(readable((ROOT / header).read_text()))


if __name__ == "__main__":
    main()
