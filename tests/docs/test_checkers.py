"""The checkers accept pages without faults, and report each one that is planted here."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import check_compared
import check_docs

ROOT = pathlib.Path(__file__).parents[2]
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


if __name__ == "__main__":
    unittest.main()
