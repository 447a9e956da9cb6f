"""What MkDocs does besides mkdocs.yml: the menus of extensions and of the reference, and pages that no menu names; links
from words of the pages into the reference."""

import json
import os
import pathlib
import re

SECTIONS = {"docs": "Guide", "extensions": "Extensions", "tool": "Tool"}
ELSE = "Project"
FROM_REPOSITORY = ("docs", "extensions", "tool", "bench", "packaging")


def section(nav, title):
    return next(entry[title] for entry in nav if title in entry)


def named(nav):
    """The files that a menu names."""
    for entry in nav:
        value = next(iter(entry.values())) if isinstance(entry, dict) else entry
        if isinstance(value, list):
            yield from named(value)
        else:
            yield value


def title_of(path):
    lines = (line[2:] for line in path.read_text().split("\n") if line.startswith("# "))
    return next(lines, path.parent.name if path.stem == "README" else path.stem).replace("`", "")


def reference(pages):
    """The API: core and extensions, in each a folder's page and the pages of its headers."""
    trees = {"Core": [], "Extensions": []}
    for folder in sorted(p for p in (pages / "reference").iterdir() if p.is_dir()):
        of_core = (pages / "include/whittle" / folder.name).is_dir()
        headers = sorted(p for p in folder.glob("*.md") if p.name != "index.md")
        entries = [{"Overview": f"reference/{folder.name}/index.md"}]
        entries += [{f"{p.stem}.hpp": f"reference/{folder.name}/{p.name}"} for p in headers]
        trees["Core" if of_core else "Extensions"].append({folder.name: entries})
    menus = [{title: entries} for title, entries in trees.items()]
    return [{"Overview": "reference/index.md"}, *menus, {"All names": "reference/names.md"}]


def is_shown_file(path):
    """The page of a file that is none, such as example.cpp.md, or of a folder."""
    return path.name == "index.md" or "." in path.stem


def extension(pages, folder):
    """Its README, or a menu of it and further pages."""
    more = [p for p in sorted(folder.rglob("*.md")) if not is_shown_file(p) and p != folder / "README.md"]
    readme = str((folder / "README.md").relative_to(pages))
    entries = [{"Overview": readme}, *({title_of(p): str(p.relative_to(pages))} for p in more)]
    return {folder.name: entries if more else readme}


def on_config(config):
    pages = pathlib.Path(config.docs_dir)
    nav = config.nav
    section(nav, "API reference").extend(reference(pages))
    for readme in sorted(pages.glob("extensions/*/README.md")):
        section(nav, "Extensions").append(extension(pages, readme.parent))
    known = set(named(nav))
    found = [*pages.glob("*.md"), *(p for top in FROM_REPOSITORY for p in (pages / top).rglob("*.md"))]
    for path in sorted(found):
        name = str(path.relative_to(pages))
        if name not in known and not is_shown_file(path):
            section(nav, SECTIONS.get(name.split("/")[0], ELSE)).append({title_of(path): name})
    return config


def with_breaks(cell):
    """Long names in a table may be broken behind a dot, a colon, a slash and an underscore, and nowhere else."""
    return re.sub(r"(?<=[\w)])([.:/_]+)(?=\w)", r"\1<wbr>", cell[0])


def without_odd_breaks(html):
    """Code in a line is broken neither inside an option nor inside an arrow."""

    def kept(found):
        if found[0].startswith("<pre"):
            return found[0]
        return re.sub(r"(?<![\w-])--?\w[\w-]*|-&gt;", r'<span class="unbroken">\g<0></span>', found[0])

    return re.sub(r"<pre\b.*?</pre>|<code>.*?</code>", kept, html, flags=re.S)


def with_references(html, page, names):
    """The first `Name` of each kind on a page leads to it in the reference, but for headings, links and blocks of code."""
    seen = set()

    def link(found):
        name = found[1]
        if found[0].startswith("<code>") and name in names and name not in seen:
            seen.add(name)
            to, _, anchor = names[name].partition("#")
            to = os.path.relpath(to, os.path.dirname(page) or ".")
            return f'<a class="api-link" href="{to}#{anchor}"><code>{name}</code></a>'
        return found[0]

    return re.sub(r"<(?:a|pre|h\d)\b.*?</(?:a|pre|h\d)>|<code>(\w+(?:::\w+)*)</code>", link, html, flags=re.S)


def on_page_content(html, page, config, files):
    source = page.file.src_uri
    if not source.startswith("reference/") and source != "CHANGELOG.md":  # which names what is no longer there
        names = json.loads((pathlib.Path(config.docs_dir).parent / "names.json").read_text())
        html = with_references(html, page.file.dest_uri, names)
    html = re.sub(r"(?<=<td>)(?:(?!</td>).)*<code>.*?</td>", lambda cell: re.sub(r"<code>[^<]*</code>", with_breaks, cell[0]), html, flags=re.S)
    return without_odd_breaks(html)
