"""The headers as Doxygen 1.9 can read them: headers.py FOLDER

They are copied to FOLDER/include/... and FOLDER/extensions/..., each line on its number. The inline namespace goes, since
its name would be in that of all others; what stands in a namespace `detail` goes, and so do specialisations of `std`.
Headers in a folder `detail/` come along: users do not include them, but types that stand there are in public
declarations, and reference.py shows those.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def all_headers():
    headers = [*ROOT.glob("include/whittle/**/*.hpp"), *ROOT.glob("extensions/*/include/whittle/**/*.hpp")]
    return sorted(h.relative_to(ROOT).as_posix() for h in headers)


def is_public(header):
    return "/detail/" not in header


def public_headers():
    return [h for h in all_headers() if is_public(h)]


def includes_of_all():
    """Of each header, the headers of this repository that it includes."""
    by_include = {h.split("include/", 1)[1]: h for h in all_headers()}
    found = {h: re.findall(r'^#include ["<](whittle/[^">]+)[">]', (ROOT / h).read_text(), re.M) for h in by_include.values()}
    return {h: [by_include[i] for i in included if i in by_include] for h, included in found.items()}


def headers_to_include():
    """Of each header in a folder `detail/`, the public one to include for what it declares: the nearest one of its own
    folder, else of its own tree, and of several that which brings the fewest others."""
    includes = includes_of_all()

    def all_below(header):
        seen, waiting = set(), [header]
        while waiting:
            waiting += [h for h in includes[waiting.pop()] if h not in seen and not seen.add(h)]
        return seen

    candidates = {}
    for public in public_headers():
        rank, seen, level, distance = len(all_below(public)), {public}, [public], 0
        while level:
            distance += 1
            level = [h for above in level for h in includes[above] if not is_public(h) and h not in seen and not seen.add(h)]
            for h in level:
                is_elsewhere = public.rpartition("/")[0] != h.partition("/detail/")[0]
                is_other_tree = public.partition("include/")[0] != h.partition("include/")[0]
                candidates.setdefault(h, []).append((is_elsewhere, is_other_tree, rank, distance, public))
    return {h: min(found)[-1] for h, found in candidates.items()}


def only_lines(found):
    return "\n" * found[0].count("\n")


def readable(text):
    text = re.sub(r"^namespace [^\n]*\bdetail \{$.*?^\}  // namespace [^\n]*\bdetail$", only_lines, text, flags=re.S | re.M)
    text = re.sub(r"^template <[^\n]*>\nstruct std::\w+<[^;{]*(;|\{[^}]*\};|\{(.|\n)*?^\};)$", only_lines, text, flags=re.M)
    # Definitions of what is declared in `detail`.
    text = re.sub(r"^template <[^;{]*\bdetail::\w+\([^;{]*\{$.*?^\}$", only_lines, text, flags=re.S | re.M)
    text = re.sub(r"^inline [^;{(]*\bdetail::\w+\([^\n]*\}$", only_lines, text, flags=re.M)
    # A concept that goes on after a requires-expression ends there for Doxygen, and what follows it is lost.
    text = re.sub(r"= requires \{[^}]*\}\n&&\(", lambda found: "=" + only_lines(found) + "(", text)
    text = text.replace("\ninline namespace v0 {\n", '\nextern "C++" {\n')
    return text.replace("namespace whittle::inline v0", "namespace whittle")


def main():
    for header in all_headers():
        copy = pathlib.Path(sys.argv[1]) / header
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(readable((ROOT / header).read_text()))


if __name__ == "__main__":
    main()
