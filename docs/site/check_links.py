"""Whether each link of a finished site leads somewhere: check_links.py SITE

Each href and src of each page: the file is there, and has what the fragment names. Nothing is loaded from elsewhere: no
style, script, picture or font, in pages and in styles. Links of text to other sites are not followed. Ends with 1 and
names each fault.
"""

import html.parser
import os
import pathlib
import re
import sys
import urllib.parse

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data", "embed": "src", "video": "src", "audio": "src"}
LOADING_RELATIONS = {"stylesheet", "icon", "preload", "prefetch", "preconnect", "dns-prefetch", "modulepreload", "manifest"}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded = set(), [], []
        self.comments = 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        self.ids.update(value for key, value in of.items() if value and (key == "id" or (key == "name" and tag == "a")))
        if LOADED.get(tag) in of:
            self.loaded.append(of[LOADED[tag]])
        elif tag == "link" and LOADING_RELATIONS & set((of.get("rel") or "").split()):
            self.loaded.append(of.get("href") or "")
        elif of.get("href"):
            self.links.append(of["href"])

    def handle_comment(self, data):
        self.comments += "from:" in data or "example:" in data


class Checker:
    def __init__(self, site):
        self.site = site
        self.pages = {p: Page(p.read_text()) for p in sorted(site.rglob("*.html"))}
        self.faults = self.checked = 0

    def fault(self, page, text):
        print(f"{page.relative_to(self.site)}: {text}")
        self.faults += 1

    def check_target(self, page, link):
        parts = urllib.parse.urlsplit(link)
        if parts.scheme or parts.netloc:
            return
        self.checked += 1
        path = urllib.parse.unquote(parts.path)
        base = self.site if path.startswith("/") else page.parent
        target = pathlib.Path(os.path.normpath(base / path.lstrip("/"))) if path else page
        target = target / "index.html" if target.is_dir() else target
        if not target.is_file():
            return self.fault(page, f"leads nowhere: {link}")
        fragment = urllib.parse.unquote(parts.fragment)
        if fragment and target in self.pages and fragment not in self.pages[target].ids:
            self.fault(page, f"there is no #{fragment} in {target.relative_to(self.site)}")

    def check(self):
        for page, found in self.pages.items():
            for link in found.loaded:
                if re.match(r"(https?:)?//", link):
                    self.fault(page, f"loads from elsewhere: {link}")
                elif not link.startswith("data:"):
                    self.check_target(page, link)
            for link in found.links:
                self.check_target(page, link)
            if found.comments:
                self.fault(page, "a comment of the source is left in it")
        for style in self.site.rglob("*.css"):
            for target in re.findall(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""", style.read_text()):
                self.fault(style, f"loads from elsewhere: {target}")


def main():
    checker = Checker(pathlib.Path(sys.argv[1]))
    checker.check()
    if not checker.pages:
        sys.exit(f"no pages under {checker.site}")
    if checker.faults:
        sys.exit(f"{checker.faults} faults in {len(checker.pages)} pages")
    print(f"{checker.checked} links in {len(checker.pages)} pages lead somewhere")


if __name__ == "__main__":
    main()
