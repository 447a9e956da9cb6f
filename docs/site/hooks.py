"""What MkDocs does besides mkdocs.yml: the menus of extensions and of the reference, and pages that no menu names."""

import pathlib

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
    return next(lines, path.stem).replace("`", "")


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


def on_config(config):
    pages = pathlib.Path(config.docs_dir)
    nav = config.nav
    section(nav, "API reference").extend(reference(pages))
    for readme in sorted(pages.glob("extensions/*/README.md")):
        section(nav, "Extensions").append({readme.parent.name: f"extensions/{readme.parent.name}/README.md"})
    known = set(named(nav))
    found = [*pages.glob("*.md"), *(p for top in FROM_REPOSITORY for p in (pages / top).rglob("*.md"))]
    for path in sorted(found):
        name = str(path.relative_to(pages))
        is_shown_file = path.name == "index.md" or "." in path.stem  # a folder, or a file such as example.cpp.md
        if name not in known and not is_shown_file:
            section(nav, SECTIONS.get(name.split("/")[0], ELSE)).append({title_of(path): name})
    return config
