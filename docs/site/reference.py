"""The reference of the public headers, a page for each: reference.py XML_FOLDER PAGES_FOLDER

Beside what public headers declare it shows what stands in headers of a folder `detail/`, outside of a namespace `detail`,
as far as users meet it: types in declarations that are shown and in code of the pages, the `to_string` of their enums, and
functions that pages name and no shown header declares. These are on the page of the header to include.

Doxygen's XML says what is declared where and with which comment; declarations are shown as the header has them. Ends with
1 and names file and line if a public name has no comment of its own. These need none:

* what is defaulted or deleted, destructors, copying and moving: they do what every C++ programmer expects
* an override of a documented function: the page says whose comment holds
* a second overload behind or before one with a comment: the comment is about the name
* values of an enum that has a comment: the enum's comment is about all that have none
* operators, and what containers and iterators of the standard library have by the same name (`size`, `begin`)
* a specialisation of `message_traits`, its members, and those of its bases: the primary template says what each does
"""

import html
import json
import os
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

import pygments
import pygments.formatters
import pygments.lexers

import headers

ROOT = pathlib.Path(__file__).resolve().parents[2]
TYPES = ("class", "struct", "union", "concept", "enum", "typedef")
LEXER = pygments.lexers.CppLexer()
FORMATTER = pygments.formatters.HtmlFormatter(nowrap=True)
LITERAL = re.compile(r'R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|//[^\n]*')


class Name:
    """What a header declares: a type, a function, a member."""

    def __init__(self, kind, qualified, element, owner=None):
        self.kind, self.owner, self.element = kind, owner, element
        self.qualified = re.sub(r"\s*([<>])\s*", r"\1", qualified)
        self.short = re.sub(r"(?<!operator)<[^<>]*>", "", self.qualified).rpartition("::")[2]
        place = element.find("location")
        self.file, self.line = place.get("file"), int(place.get("line"))
        self.include = self.file  # the header to include for it
        self.members = []
        self.values = []  # of an enum: name and comment
        self.reimplements = element.find("reimplements")
        self.needs_comment = True
        self.has_comment = any(len(found) for found in self.comments())
        self.declaration = ""
        self.anchor = ""

    def comments(self):
        return [e for e in (self.element.find("briefdescription"), self.element.find("detaileddescription")) if e is not None]

    @property
    def page(self):
        folder, header = re.search(r"include/whittle/(?:(\w+)/)?(\w+)\.hpp$", self.include).groups()
        return f"reference/{folder}/{header}"

    @property
    def summary(self):
        """The first sentence of its comment."""
        text = " ".join(text_without_tables(e) for e in self.comments())
        text = re.sub(r"\s+", " ", text).strip()
        for end in re.finditer(r"(?<=[.:;]) (?=[A-Z`])|$", text):
            sentence = text[: end.start()]
            if len(re.findall(r"[(\[]", sentence)) == len(re.findall(r"[)\]]", sentence)):
                return sentence.rstrip(":;")
        return text


def text_without_tables(element):
    if element.tag == "table":
        return ""
    return (element.text or "") + "".join(text_without_tables(e) + (e.tail or "") for e in element)


def without_paragraph(text):
    return re.sub("^<p>(.*)</p>$", r"\1", text.strip())


def declaration_of(lines, line, kind):
    """As the header has it, from its template line to where a body would begin."""
    first = line - 1
    while first > 0 and not re.search(r"(^\s*//|^\s*#|[;{}:]\s*(//.*)?$|^\s*$)", lines[first - 1]):
        first -= 1
    text = "\n".join(lines[first:])
    depth, at = 0, 0
    until_semicolon = kind in ("variable", "typedef", "concept")
    while at < len(text):
        if literal := LITERAL.match(text, at):
            if literal[0].startswith("//") and depth == 0 and not until_semicolon:
                break
            at = literal.end()
            continue
        c = text[at]
        before = text[:at].rstrip()
        if depth == 0 and c == ";":
            break
        if depth == 0 and not until_semicolon and kind not in ("class", "struct"):
            if c == "{" and not re.search(r"\brequires(\s*\([^()]*\))?$", before):
                break
            if c == ":" and text[at + 1] != ":" and text[at - 1] != ":" and kind == "function":
                break
        if depth == 0 and kind in ("class", "struct") and c == "{":
            break
        depth += (c in "({[") - (c in ")}]")
        at += 1
    without_comments = LITERAL.sub(lambda found: "" if found[0].startswith("//") else found[0], text[:at])
    shown = [line.rstrip() for line in without_comments.rstrip().split("\n")]
    margin = min((len(line) - len(line.lstrip()) for line in shown if line), default=0)
    shown = [line[margin:] for line in shown if line]
    # Nearly every function that gives something says so; what stands below its parenthesis moves along.
    if any(line.startswith("[[nodiscard]] ") for line in shown):
        shown = [re.sub(r"^(\[\[nodiscard\]\] | {14})", "", line) for line in shown]
    declaration = "\n".join(shown) + ("" if kind == "enum" else ";")
    # What a function object does is no part of what it is.
    return re.sub(r"(= *\n? *\[\](?:<[^>]*>)?\(.*?\) -> [^{]*)\{.*\};$", r"\1{ ... };", declaration, flags=re.S)


def is_copy_or_move(name):
    if name.owner is None or name.kind != "function":
        return False
    mine = name.owner.short
    return re.search(rf"\b(?:{mine}|operator=)\((?:const )?{mine}&&?(?: \w+)?\)", name.declaration) is not None


def is_of_containers(name):
    if name.owner is None:
        return False
    words = "value_type iterator const_iterator iterator_category difference_type pointer reference is_transparent "
    words += "begin end size empty data front back push_back resize clear str Iterator"
    return name.short in words.split() or re.match(r"operator\W", name.short) is not None


def is_of_traits(name):
    if name.qualified.startswith("message_traits<"):
        return True
    return name.owner is not None and (name.owner.short == "ProviderMessageTraits" or is_of_traits(name.owner))


class Reference:
    def __init__(self, xml, pages):
        self.xml, self.pages = xml, pages
        self.sources = {}
        self.top = []  # in namespaces
        self.by_id = {}
        self.read()
        self.keep_what_users_meet()
        self.settle()

    def lines(self, file):
        if file not in self.sources:
            self.sources[file] = (ROOT / file).read_text().split("\n")
        return self.sources[file]

    # What Doxygen found.

    def read(self):
        compounds = {}
        for path in sorted(self.xml.glob("*.xml")):
            if not re.match(r"(class|struct|union|concept|namespace)(whittle|std)", path.name):
                continue
            compound = ElementTree.parse(path).getroot()[0]
            name = compound.findtext("compoundname")
            if compound.get("kind") == "namespace":
                self.read_members(compound, None, re.sub(r"^whittle(::)?", "", name))
            elif compound.get("prot", "public") != "private" and self.is_defined(compound, name):
                compounds[name] = self.add(Name(compound.get("kind"), re.sub(r"^whittle::", "", name), compound), compound)
        for name, found in compounds.items():
            owner = compounds.get(name.rpartition("::")[0])
            (owner.members if owner else self.top).append(found)
            found.owner = owner
            self.read_members(found.element, found, found.qualified)
        for name in self.all():
            name.declaration = declaration_of(self.lines(name.file), name.line, name.kind)

    def is_defined(self, compound, name):
        """Here: a class that is only declared in a public header is none of its names, nor is a private one. Doxygen takes
        one that is defined behind its class for public."""
        place = compound.find("location")
        line = self.lines(place.get("file"))[int(place.get("line")) - 1]
        if re.match(r"(class|struct) \w+(<\w+>)?::\w+ ", line) and not line.startswith("struct whittle::"):
            return False
        return "::detail" not in name and (compound.get("kind") == "concept" or place.get("bodyend", "-1") != "-1")

    def add(self, name, element):
        self.by_id[element.get("id")] = name
        return name

    def read_members(self, compound, owner, scope):
        for section in compound.findall("sectiondef"):
            for element in section.findall("memberdef"):
                if element.get("prot") == "private" or element.find("location") is None:
                    continue
                short = element.findtext("name")
                kind = element.get("kind")
                if kind == "friend" and "(" not in (element.findtext("argsstring") or ""):
                    continue
                if element.get("prot") == "protected" and (element.find("briefdescription") is None or not len(element.find("briefdescription"))):
                    continue
                if "->" in (element.findtext("argsstring") or "") and not element.findtext("type"):
                    continue  # a deduction guide
                if owner and short.endswith("_"):
                    continue  # of an unnamed union in private, which Doxygen takes for public
                if not short or short.startswith("@") or "detail::" in (element.findtext("definition") or "").split("(")[0].split(" ")[-1]:
                    continue
                name = Name("function" if kind == "friend" else kind, f"{scope}::{short}" if scope else short, element, owner)
                for value in element.findall("enumvalue"):
                    name.values.append((value.findtext("name"), [value.find("briefdescription"), value.find("detaileddescription")]))
                self.add(name, element)
                (owner.members if owner else self.top).append(name)

    def all(self):
        return self.below(self.top)

    def below(self, names):
        """These and their members."""
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            yield name
            waiting += name.members

    def keep_what_users_meet(self):
        homes = headers.headers_to_include()
        hidden = [n for n in self.top if n.file in homes]
        kept = [n for n in self.top if headers.is_public(n.file)]
        pages = self.words_of_pages()
        words, fresh = set(pages), kept
        while fresh:
            for name in fresh:
                words |= self.words_of(name)
            named = pages - {n.short for n in self.below(kept)}
            fresh = [n for n in hidden if n.kind in TYPES and n.short in words] or [n for n in hidden if n.short in named]
            hidden = [n for n in hidden if n not in fresh]
            kept = kept + fresh
        enums = {n.short for n in kept if n.kind == "enum"}
        is_named = lambda n: (of := re.match(r".*\bto_string\((\w+)", n.declaration)) and of[1] in enums
        self.top = kept + [n for n in hidden if is_named(n)]
        for name in self.all():
            name.include = homes.get(name.file, name.file)
        shown = set(map(id, self.all()))
        self.by_id = {key: name for key, name in self.by_id.items() if id(name) in shown}

    def words_of(self, name):
        """What its declaration and those of its members mention."""
        words = set(re.findall(r"\w+", name.declaration)) - set(re.findall(r"\btypename (\w+)", name.declaration))
        for member in name.members:
            words |= self.words_of(member)
        return words

    def words_of_pages(self):
        words = set()
        for_users = [p for p in ROOT.glob("docs/*.md") if p.stem not in ("design", "map")]
        for page in [ROOT / "README.md", *for_users, *ROOT.glob("extensions/*/README.md")]:
            for code in re.findall(r"^```cpp\n(.*?)^```|`([^`\n]+)`", page.read_text(), re.S | re.M):
                words.update(re.findall(r"\w+", " ".join(code)))
        return words

    def settle(self):
        """Order, anchors, and who needs a comment."""
        self.top.sort(key=lambda n: (n.include, n.file != n.include, n.file, n.line))
        seen = {}
        for name in sorted(self.all(), key=lambda n: (n.file, n.line)):
            name.members.sort(key=lambda n: n.line)
            slug = re.sub(r"[^\w]+", "-", re.sub(r"operator\W+", lambda m: "operator-" + "".join(f"{ord(c):x}" for c in m[0][8:].strip()), name.qualified)).strip("-")
            count = seen.setdefault((name.page, slug.lower()), 0)
            seen[(name.page, slug.lower())] += 1
            name.anchor = f"{slug}-{count + 1}" if count else slug
        documented = {(n.owner, n.qualified, n.file) for n in self.all() if n.has_comment}
        for name in self.all():
            name.needs_comment = not (
                re.search(r"= (default|delete);$", name.declaration)
                or name.short.startswith("~")
                or is_copy_or_move(name)
                or is_of_containers(name)
                or is_of_traits(name)
                or (name.kind == "function" and (name.owner, name.qualified, name.file) in documented)
                or name.reimplements is not None
                or re.search(r"\boverride;$", name.declaration)
            )
        self.by_short = {}
        for name in self.all():
            self.by_short.setdefault(name.short, []).append(name)
            self.by_short.setdefault(name.qualified, []).append(name)

    def undocumented(self):
        return sorted({(n.file, n.line, n.qualified) for n in self.all() if n.needs_comment and not n.has_comment})

    def lost(self):
        """Types that a public header defines and Doxygen did not see: it reads C++20 with less than full understanding."""
        known = {n.short for n in self.all()}
        for header in headers.public_headers():
            copy = self.xml.parent / "headers" / header
            for found in re.finditer(r"^(?:class|struct|enum class|concept|using) (\w+)\b(?!::)[^;\n]*[{=]", copy.read_text(), re.M):
                if found[1] not in known:
                    yield header, found[1]

    # Pages.

    def href(self, name, page):
        to = "" if name.page == page else os.path.relpath(name.page, os.path.dirname(page)) + ".html"
        return f"{to}#{name.anchor}"

    def find(self, word, page, owner):
        """What a word in code means, seen from a page and a class; None unless that is certain."""
        if owner and "::" not in word:
            mine = [n for n in owner.members if n.short == word]
            if mine:
                return mine[0]
        found = self.by_short.get(word, [])
        here = [n for n in found if n.page == page and (n.kind in TYPES or n.owner is None)]
        if here:
            return here[0]
        found = [n for n in found if n.kind in TYPES or n.owner is None or "::" in word]
        if len({(n.page, n.qualified) for n in found}) == 1:
            return found[0]
        return None

    def code(self, text, page, owner=None, own=None):
        """Highlighted, with known types linked."""
        marked = pygments.highlight(text, LEXER, FORMATTER).rstrip("\n")

        def link(token):
            found = self.find(token[2], page, None)
            if found is None or found.kind not in TYPES or found is own:
                return token[0]
            return f'<a class="{token[1]}" href="{self.href(found, page)}">{token[2]}</a>'

        return re.sub(r'<span class="(nc|n)">(\w+)</span>', link, marked)

    def block(self, text, page, own):
        return f'<div class="highlight api-code"><pre><code>{self.code(text, page, own=own)}</code></pre></div>'

    def inline(self, element, page, owner):
        """The inside of an element of a comment, as HTML."""
        parts = [html.escape(element.text or "", quote=False)]
        for child in element:
            parts += [self.element(child, page, owner), html.escape(child.tail or "", quote=False)]
        return "".join(parts)

    def element(self, e, page, owner):
        inner = lambda: self.inline(e, page, owner)
        if e.tag == "computeroutput":
            word = re.sub(r"\(.*\)$", "", "".join(e.itertext()))
            found = self.find(word, page, owner) if re.fullmatch(r"[\w:]+", word) else None
            code = f"<code>{html.escape(''.join(e.itertext()), quote=False)}</code>"
            return f'<a href="{self.href(found, page)}">{code}</a>' if found else code
        if e.tag == "ref":
            found = self.by_id.get(e.get("refid"))
            return f'<a href="{self.href(found, page)}">{inner()}</a>' if found else inner()
        if e.tag == "ulink":
            return f'<a href="{html.escape(e.get("url"))}">{inner()}</a>'
        if e.tag in ("verbatim", "preformatted"):
            return f"<pre><code>{html.escape(''.join(e.itertext()), quote=False)}</code></pre>"
        if e.tag == "programlisting":
            lines = [self.listing(line) for line in e]
            return f'<div class="highlight"><pre><code>{self.code(chr(10).join(lines), page)}</code></pre></div>'
        if e.tag == "table":
            return f'<table class="api-values"><tbody>{inner()}</tbody></table>'
        if e.tag == "entry":
            tag = "th" if e.get("thead") == "yes" else "td"
            return f"<{tag}>{without_paragraph(inner())}</{tag}>"
        tags = {"row": "tr", "para": "p", "emphasis": "em", "bold": "strong", "itemizedlist": "ul", "orderedlist": "ol", "listitem": "li"}
        if e.tag in tags:
            text = inner().strip() if e.tag != "para" else self.with_pages(inner().strip(), page)
            if e.tag == "para" and e.find("table") is not None:
                return text
            return f"<{tags[e.tag]}>{text}</{tags[e.tag]}>" if text else ""
        marks = {"linebreak": "<br>", "sp": " ", "ndash": "–", "mdash": "—", "lsquo": "‘", "rsquo": "’", "nonbreakablespace": "&nbsp;"}
        return marks.get(e.tag) or inner()

    def listing(self, line):
        text = []
        for e in line.iter():
            text.append(" " if e.tag == "sp" else (e.text or ""))
            text.append("" if e is line else (e.tail or ""))
        return "".join(text)

    def with_pages(self, text, page):
        def link(found):
            target = self.pages / found[0]
            if not target.is_file():
                return found[0]
            to = os.path.relpath(found[0], os.path.dirname(page))
            to = re.sub(r"README\.md$", "index.html", to) if to.endswith("README.md") else re.sub(r"\.md$", ".html", to)
            return f'<a href="{to}">{found[0]}</a>'

        return re.sub(r"(?<![\w/>])(?:docs|extensions|tool|bench|packaging)/[\w/.]*\w\.md\b", link, text)

    def comment(self, elements, page, owner):
        return "".join(self.inline(e, page, owner).strip() for e in elements if e is not None)

    def body(self, name, page):
        text = self.comment(name.comments(), page, name if name.kind in ("class", "struct") else name.owner)
        if not text and name.reimplements is not None and (base := self.by_id.get(name.reimplements.get("refid"))):
            text = f'<p>As <a href="{self.href(base, page)}"><code>{html.escape(base.qualified)}</code></a>.</p>'
        rows = []
        for value, comments in name.values:
            said = without_paragraph(self.comment(comments, page, name.owner))
            rows.append(f"<tr><td><code>{value}</code></td><td>{said}</td></tr>")
        if rows:
            text += f"<table class=\"api-values\"><tbody>{''.join(rows)}</tbody></table>"
        return f'<div class="api-doc">{text}</div>' if text else ""

    def show_members(self, owner, page, out):
        at_heading = None
        for member in owner.members:
            if member.kind in ("class", "struct") or re.search(r"= (default|delete);$", member.declaration):
                if member.kind in ("class", "struct"):
                    self.show(member, page, out, 3)
                continue
            if member.kind in ("function", "enum") and member.short != at_heading:
                out.append(f"\n### `{member.short}` {{ #{member.anchor} .api-name }}\n")
                at_heading = member.short
                start = '<div class="api-member">'
            elif member.kind in ("function", "enum"):
                start = f'<div class="api-member" id="{member.anchor}">'
            else:
                at_heading = None
                start = f'<div class="api-member api-field" id="{member.anchor}">'
            out.append(f"{start}{self.block(member.declaration, page, member)}{self.body(member, page)}</div>\n")

    def show(self, name, page, out, level):
        title = name.qualified if level == 2 else name.short
        out.append(f"\n{'#' * level} `{title}` {{ #{name.anchor} }}\n")
        out.append(f"{self.block(name.declaration, page, name)}{self.body(name, page)}\n")
        self.show_members(name, page, out)

    def write(self, page, text):
        path = self.pages / f"{page}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def write_header(self, file, names):
        page = names[0].page
        include = file.split("include/")[1]
        source = os.path.relpath(f"{file}.html", os.path.dirname(page))
        out = [f"# {include.removeprefix('whittle/')}\n"]
        out.append(f'{self.block(f"#include <{include}>", page, None)}\n')
        out.append(f'<p class="api-source"><a href="{source}">Source of this header</a></p>\n')
        shown = None
        for name in names:
            if name.kind in ("class", "struct", "concept", "enum", "typedef", "union"):
                self.show(name, page, out, 2)
                shown = None
            elif name.qualified != shown:
                out.append(f"\n## `{name.qualified}{'()' if name.kind == 'function' else ''}` {{ #{name.anchor} }}\n")
                out.append(f'<div class="api-member">{self.block(name.declaration, page, name)}{self.body(name, page)}</div>\n')
                shown = name.qualified
            else:
                out.append(f'<div class="api-member" id="{name.anchor}">{self.block(name.declaration, page, name)}{self.body(name, page)}</div>\n')
        self.write(page, "\n".join(out))

    def rows(self, names, page):
        """A table of names, each once, with the first sentence of its comment."""
        seen, rows = set(), []
        for name in names:
            if name.qualified in seen:
                continue
            seen.add(name.qualified)
            same = [n for n in names if n.qualified == name.qualified and n.summary]
            summary = html.escape(same[0].summary if same else "", quote=False)
            rows.append(f'<tr><td><a href="{self.href(name, page)}"><code>{html.escape(name.qualified)}</code></a></td><td>{summary}</td></tr>')
        return f"<table class=\"api-index\"><tbody>{''.join(rows)}</tbody></table>\n"

    def write_all(self):
        by_header = {}
        for name in self.top:
            by_header.setdefault(name.include, []).append(name)
        folders = {}
        for file, names in by_header.items():
            self.write_header(file, names)
            folders.setdefault(names[0].page.split("/")[1], {})[file] = names
        about = self.descriptions()
        lists = {"core": [], "extensions": []}
        for folder, files in folders.items():
            page = f"reference/{folder}/index"
            tree = "extensions" if next(iter(files)).startswith("extensions/") else "core"
            what, guide = about.get(folder, ("", ""))
            out = [f"# {folder}\n", f"{what}\n", f"Explained in {guide}.\n" if guide else ""]
            for file, names in files.items():
                out.append(f"\n## [{file.split('include/whittle/')[1]}]({names[0].page.split('/')[2]}.md)\n")
                out.append(self.rows(names, page))
            self.write(page, "\n".join(out))
            lists[tree].append(f"| [`{folder}`]({folder}/index.md) | {what} |")
        out = ["# API reference\n", (pathlib.Path(__file__).parent / "reference.txt").read_text()]
        for tree, title in (("core", "The core"), ("extensions", "Extensions")):
            out += [f"\n## {title}\n", "| folder | what |\n|---|---|\n" + "\n".join(lists[tree]) + "\n"]
        self.write("reference/index", "\n".join(out))
        self.write_names()
        types = sorted((n for n in self.top), key=lambda n: (n.short.lower(), n.qualified))
        self.write("reference/names", "---\nsearch:\n  exclude: true\n---\n# All names\n\n" + self.rows(types, "reference/names"))
        return len(by_header), len(folders)

    def write_names(self):
        """Where a name in a page leads that can mean one type alone, or a member of it: hooks.py."""
        links = {}
        for name in self.all():
            whole = self.find(name.qualified, "", None)
            if whole and (name.kind in TYPES or name.owner) and re.match(r"[A-Z]", name.qualified):
                links[name.qualified] = f"{whole.page}.html#{whole.anchor}"
        (self.pages.parent / "names.json").write_text(json.dumps(links))

    def descriptions(self):
        """Of the folders of the core by docs/map.md, of extensions by their line of CMake; and the page of each."""
        map_ = (ROOT / "docs/map.md").read_text().split("## Extensions")[0]
        rows = re.finditer(r"^\| `(\w+)` \| (.*?) \| (.*?) \|$", map_, re.M)
        said = {m[1]: (m[2], re.sub(r"\]\((?!\.\./)", "](../docs/", m[3]).replace("](../", "](../../").replace("](../../../", "](../../")) for m in rows}
        for file in sorted(ROOT.glob("extensions/*/CMakeLists.txt")):
            if found := re.search(r'DESCRIPTION\s+"([^"]*)"', file.read_text()):
                said[file.parent.name] = (found[1], f"[{file.parent.name}](../../extensions/{file.parent.name}/README.md)")
        return said


def main():
    reference = Reference(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
    for file, name in (lost := list(reference.lost())):
        print(f"{file}: {name} is not in what Doxygen read")
    for file, line, name in (bare := reference.undocumented()):
        print(f"{file}:{line}: {name} has no comment")
    pages, folders = reference.write_all()
    names = sum(1 for _ in reference.all())
    if bare or lost:
        sys.exit(f"{len(bare)} public names of {names} have no comment, {len(lost)} were not read")
    print(f"{names} public names in {pages} headers of {folders} folders have their comment")


if __name__ == "__main__":
    main()
