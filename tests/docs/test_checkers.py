"""The checkers accept pages without faults, and report each one that is planted here."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

import check_compared
import check_docs
import check_fields
import check_notice

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "site"))

import check_links  # noqa: E402  (of the site)
import headers  # noqa: E402
CUT = '[base/text.cpp](../tests/base/text.cpp) "a prefix never ends inside a character"'
TABLE = f"whittle: 1 Y, 1 P, 1 N.\n\n| 1. cuts | Y<br>{CUT} | - |\n| 2. plans | P: no dry run | - |\n| 3. flies | N | - |\n"

PAGE = """# A page

[one](other.md#a-heading-of-one), [own](#a-page), `[no](link.md)`

<!-- from: code.cpp#use -->
```cpp
int one();
  int two();
```
"""
SOURCE = "// [use]\n  int one();\n    int two();\n  // [/use]\n"


HEADER = """struct Shared {
    std::string root{};  ///< the file; see docs/a.md. Empty: none
};
struct Settings : Shared {
    /// Bytes that stay, of
    /// a text. Not of media.
    std::int64_t bytes = 0;
    Mode mode =
        Mode::a;  ///< `a` or `b`
    Profile profile{};                     ///< rules by name
    std::optional<std::string> storage{};  ///< own storage
};
"""
ROWS = """template <typename Config>
ConfigField<Config> own_field(std::string Config::*member) {
    return {.name = "storage", .member = member, .meaning = "own storage; keys as in `storage`"};
}
template <typename Config>
ConfigFields<Config> disk_fields(std::string meaning) {
    using C = Config;
    return {{.name = "root", .member = &C::root, .meaning = std::move(meaning)}};
}
WordMember<Settings> profile_member() {
    return {[](const Settings& config) { return config.profile.index; }};
}
ConfigFields<Settings> fields() {
    using C = Settings;
    auto root = disk_fields<C>("the file; see docs/a.md");
    return {
        {"bytes", &C::bytes, "bytes that stay, "
         "of a text", 1},
        {.name = "mode", .member = word_member(&C::mode, {Mode::a}), .meaning = "`a` or `b`", .words = {"a"}},
        {.name = "profile", .member = profile_member(), .meaning = "rules by name: " + listed(names)},
        {.name = "model", .member = ModelMember{}, .meaning = "words of its own"},
        own_field(&C::storage),
    };
}
"""


class Fields(unittest.TestCase):
    def check(self, old="", new="", written=False):
        """The faults; with `written`, the rows and the README as they are written then."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            page = root / "extensions" / "config" / "README.md"
            page.parent.mkdir(parents=True)
            page.write_text("| `x.bytes` | integer | 0 | bytes that stay, of a text |\n| `x.mode` | string | a | `a` or `b` |\n")
            for name, text in (("include/config.hpp", HEADER), ("src/rows.cpp", ROWS)):
                (root / name).parent.mkdir()
                (root / name).write_text(text.replace(old, new) if old else text)
            checker = check_fields.Checker(root)
            wrong = checker.check()
            if not written:
                return "\n".join(checker.faults)
            checker.write(wrong)
            again = check_fields.Checker(root)
            self.assertEqual(again.check(), [])
            return (root / "src/rows.cpp").read_text() + page.read_text()

    def test_rows_without_faults(self):
        self.assertEqual(self.check(), "")
        self.assertEqual(self.check(written=True).partition("| `x")[0], ROWS)

    def test_planted(self):
        self.assertIn('src/rows.cpp:17: bytes: "bytes that stay, of a text" differs from', self.check("Bytes that stay", "Bytes kept"))
        self.assertIn('Settings::bytes: "bytes kept, of a text"', self.check("Bytes that stay", "Bytes kept"))
        self.assertIn("mode: no comment of Settings::mode", self.check("  ///< `a` or `b`", ""))
        self.assertIn('mode: "`a`" differs', self.check('"`a` or `b`"', '"`a`"'))
        self.assertIn('profile: "rules" differs', self.check("rules by name: ", "rules: "))
        self.assertIn('src/rows.cpp:15: root: "the path" differs', self.check('"the file; see docs/a.md"', '"the path"'))
        self.assertIn('differs from the first sentence of Settings::storage: "its storage; keys as in', self.check("///< own", "///< its"))
        self.assertIn("a row without a meaning", self.check('.meaning = "`a` or `b`", ', ""))

    def test_written(self):
        written = self.check("Bytes that stay", 'Bytes "kept"', written=True)
        self.assertIn('&C::bytes, "bytes \\"kept\\", of a text", 1}', written)
        self.assertIn('| 0 | bytes "kept", of a text |', written)


class Compared(unittest.TestCase):
    def faults(self, old="", new=""):
        return " ".join(check_compared.faults_of(ROOT, TABLE.replace(old, new) if old else TABLE))

    def test_a_table_without_faults(self):
        self.assertEqual(self.faults(), "")

    def test_planted(self):
        self.assertIn("tests/base/texts.cpp: no such file", self.faults("base/text.cpp)", "base/texts.cpp)"))
        self.assertIn('has no test "a prefix never ends in a character"', self.faults("never ends inside", "never ends in"))
        self.assertIn("no name of a test", self.faults('"a prefix never ends inside a character"', ""))
        self.assertIn("counts are not given", self.faults("| N |", f"| Y: {CUT} |"))
        self.assertIn("row 3: a Y without a link", self.faults("| N |", "| Y |"))
        self.assertIn("row 3: whittle's verdict is none of", self.faults("| N |", "| no |"))
        self.assertIn("row 2 has the number 4", self.faults("| 2. plans", "| 4. plans"))
        self.assertIn("no row has a number", " ".join(check_compared.faults_of(ROOT, "text")))


class Docs(unittest.TestCase):
    def faults(self, old="", new="", source=SOURCE):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            (root / "docs" / "page.md").write_text(PAGE.replace(old, new) if old else PAGE)
            (root / "docs" / "other.md").write_text("# Other\n\n## A heading of `one`\n")
            (root / "code.cpp").write_text(source)
            checker, told = check_docs.Checker(root), io.StringIO()
            with contextlib.redirect_stdout(told):
                checker.check()
            self.assertEqual(checker.faults > 0, bool(told.getvalue()))
            return told.getvalue()

    def test_a_page_without_faults(self):
        self.assertEqual(self.faults(), "")

    def test_planted(self):
        self.assertIn("docs/page.md:3: leads nowhere: others.md", self.faults("other.md", "others.md"))
        self.assertIn("docs/page.md:3: there is no heading #a-heading in docs/other.md", self.faults("-of-one", ""))
        self.assertIn("there is no heading #pages", self.faults("(#a-page)", "(#pages)"))
        self.assertIn("docs/page.md:5: from: code.cpp: the block differs", self.faults("int one", "int  one"))
        self.assertIn("the block differs", self.faults(source=SOURCE.replace("two", "three")))
        self.assertIn("the block differs", self.faults("code.cpp#use", "code.cpp"))
        self.assertIn("no region [used]", self.faults("#use ", "#used "))
        self.assertIn("no such file", self.faults("code.cpp#use", "codes.cpp#use"))
        self.assertIn("cannot be read", self.faults("code.cpp#use", "code.cpp #use"))


NOTICE = "\n".join(("Source: Unicode", "    src/table.hpp", "", *check_notice.TERMS, ""))


class Notice(unittest.TestCase):
    def faults(self, old="", new="", table="// Generated by scripts/make.mjs from Unicode 16.0.\n", other="// A file.\n"):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "src").mkdir()
            (root / "src" / "table.hpp").write_text(table)
            (root / "src" / "other.cpp").write_text(other)
            return "\n".join(check_notice.faults_of(root, NOTICE.replace(old, new) if old else NOTICE))

    def test_a_notice_without_faults(self):
        self.assertEqual(self.faults(), "")

    def test_planted(self):
        self.assertIn("src/tables.hpp: no such file", self.faults("table.hpp", "tables.hpp"))
        self.assertIn("src/table.hpp: is generated, and NOTICE does not name it", self.faults("table.hpp", "other.cpp"))
        self.assertIn("src/other.cpp: is generated", self.faults(other="// Generated by scripts/make.mjs.\n"))
        self.assertIn("src/table.hpp: does not name its source, Unicode", self.faults(table="// Generated by scripts/make.mjs.\n"))
        self.assertIn("Source: Unicode: no file stands below it", self.faults("    src/table.hpp\n", ""))
        self.assertIn("NOTICE names no file", self.faults("Source:", "From:"))
        self.assertIn("NOTICE lacks: UNICODE LICENSE V3", self.faults("UNICODE LICENSE V3", "UNICODE LICENSE"))


HTML = """<link rel="stylesheet" href="a.css"><script src="a.js"></script>
<h1 id="top">A</h1><a href="#top">up</a> <a href="b/#one">one</a> <a href="https://example.org/x">out</a>
"""


class Links(unittest.TestCase):
    def faults(self, old="", new="", style="@import url(b.css);"):
        with tempfile.TemporaryDirectory() as folder:
            site = pathlib.Path(folder)
            (site / "b").mkdir()
            (site / "index.html").write_text(HTML.replace(old, new) if old else HTML)
            (site / "b" / "index.html").write_text('<h2 id="one">One</h2><a href="/index.html#top">A</a>')
            (site / "a.css").write_text(style)
            (site / "a.js").write_text("")
            checker, told = check_links.Checker(site), io.StringIO()
            with contextlib.redirect_stdout(told):
                checker.check()
            self.assertEqual(checker.faults > 0, bool(told.getvalue()))
            return told.getvalue()

    def test_a_site_without_faults(self):
        self.assertEqual(self.faults(), "")

    def test_planted(self):
        self.assertIn("index.html: leads nowhere: c/#one", self.faults("b/#one", "c/#one"))
        self.assertIn("there is no #two in b/index.html", self.faults("b/#one", "b/#two"))
        self.assertIn("there is no #top in index.html", self.faults('id="top"', 'id="bottom"'))
        self.assertIn("leads nowhere: b.js", self.faults("a.js", "b.js"))
        self.assertIn("loads from elsewhere: https://example.org/a.js", self.faults("a.js", "https://example.org/a.js"))
        self.assertIn("loads from elsewhere: //example.org/a.css", self.faults("a.css", "//example.org/a.css"))
        self.assertIn("a.css: loads from elsewhere", self.faults(style="src: url('https://example.org/font')"))
        self.assertIn("a comment of the source", self.faults("<h1", "<!-- from: a.cpp --><h1"))


class Headers(unittest.TestCase):
    def test_what_is_not_public_goes_and_lines_stay(self):
        text = "namespace whittle::inline v0 {\nnamespace detail {\nint hidden();\n}  // namespace detail\nint shown();\n}\n"
        self.assertEqual(headers.readable(text), "namespace whittle {\n\n\n\nint shown();\n}\n")
        concept = "concept C = requires {\n    typename T;\n}\n&&(A || B);\n"
        self.assertEqual(headers.readable(concept), "concept C =\n\n\n(A || B);\n")


if __name__ == "__main__":
    unittest.main()
