// Logs, diffs, pages and tables in their forms.
#include "condensing.hpp"

#include "support/generators.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

std::string server_log(int requests) {
    std::string text;
    for (int i = 0; i < requests; ++i) {
        const std::string stamp =
            "2026-01-02T10:" + std::to_string(10 + i / 60 % 50) + ":" + std::to_string(10 + i % 50) + ".123Z ";
        text += stamp + "INFO request id=4f8a" + std::to_string(1'000 + i) + "bc GET /items took " +
                std::to_string(i % 97) + "ms\n";
        if (i == 500) text += stamp + "ERROR payment failed: card declined\n    at pay (pay.js:10)\n    at main\n";
    }
    return text;
}

std::size_t lines_of(std::string_view text, std::string_view line) {
    std::size_t times = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        times += text.substr(at, end - at) == line ? 1 : 0;
        at = end + 1;
    }
    return times;
}

}  // namespace

TEST_CASE("repeated lines of a log are counted, errors stay with what is around them", "[condensing]") {
    const std::string form = form_of_text(server_log(1'000));
    CHECK(form.size() < 2'500);
    CHECK(has(form, "GET /items took 0ms (×1,000)\n"));
    CHECK(has(form, "ERROR payment failed: card declined\n    at pay (pay.js:10)\n    at main\n"));
    CHECK(has(form, "id=4f8a1500bc"));  // in front of the error
    CHECK(has(form, "id=4f8a1999bc"));  // the last one
    CHECK(has(form, "\n[..4"));
}

TEST_CASE("lines of other kinds are told apart: a status of 500, a zero, other words", "[condensing]") {
    std::string text;
    for (int i = 0; i < 300; ++i) {
        text += "10:00:01 INFO GET /a status 200\n";
        if (i == 150) text += "10:00:01 INFO GET /a status 503\n10:00:02 INFO exit 1\n10:00:02 INFO disk full\n";
        text += "10:00:01 INFO exit 0\n";
    }
    const std::string form = form_of_text(text);
    CHECK(has(form, "status 200 (×300)"));
    CHECK(has(form, "status 503\n"));
    CHECK(has(form, "exit 1\n"));
    CHECK(has(form, "disk full\n"));
    CHECK(has(form, "exit 0 (×300)"));
}

TEST_CASE("colours and progress that was written over go, what stood there last stays", "[condensing]") {
    std::string text;
    for (int i = 0; i <= 100; ++i) text += "\rloading " + std::to_string(i) + "%";
    text += "\n\x1b[32mdone\x1b[0m\r\n";
    const auto form = condense(text, {}, Language::english);
    REQUIRE(form);
    CHECK(form->text == "loading 100%\ndone\n");
    CHECK(form->legend == "without colours; without progress that was written over");
}

TEST_CASE("every line of a log's form is a line of the log, or a mark", "[condensing]") {
    static const std::vector<std::string> words{"INFO start",     "WARN slow", "ERROR no route",
                                                "  at f (x.c:3)", "",          "INFO id 77f0aa12 ok",
                                                "DEBUG x=1",      "(×3)",      "[..2]"};
    for (std::size_t seed = 0; seed < 200; ++seed) {
        Dice dice(seed);
        std::string text;
        std::vector<std::string> lines;
        for (std::size_t i = dice.below(400); i > 0; --i) {
            lines.push_back("12:00:0" + std::to_string(dice.below(10)) + " " + dice.pick(words));
            text += lines.back() + "\n";
        }
        const std::string form = form_of_text(text);
        std::size_t shown = 0;
        std::size_t left_out = 0;
        for (std::size_t at = 0; at < form.size();) {
            const std::size_t end = form.find('\n', at);
            std::string line = form.substr(at, end - at);
            at = end + 1;
            if (line.starts_with("[..")) {
                left_out += std::stoul(line.substr(3));
                continue;
            }
            ++shown;
            const bool is_line = std::ranges::find(lines, line) != lines.end();
            if (!is_line) line.resize(line.rfind(" (×"));
            CHECK(std::ranges::find(lines, line) != lines.end());
        }
        if (!form.empty()) CHECK(shown + left_out == lines.size());
    }
}

TEST_CASE("repeats without times are a log only if a program printed them", "[condensing]") {
    std::string text;
    for (int i = 0; i < 100; ++i) text += "Compiling part " + std::to_string(i + 1) + " of the whole\n";
    CHECK_FALSE(condense(text, {}, Language::english));
    const auto form = condense(text, {}, Language::english, TextAuthor::program);
    REQUIRE(form);
    CHECK(form->text.starts_with("Compiling part 1 of the whole (×100)\n"));
    const auto bench = CondensingBench::with_store({.min_bytes = 1'000});
    CHECK(bench.shown(text, "web_page") == text);
    CHECK(has(bench.shown(text, "bash", R"({"command":"make"})"), "(×100)"));
    CHECK(bench.shown(text, "bash", R"({"command":"grep -r Compiling logs"})") == text);
}

TEST_CASE("measurements and structures that a program prints keep each line", "[condensing]") {
    std::string measured = "\x1b[1mrun\x1b[0m\n";
    std::string dump;
    for (int i = 0; i < 60; ++i) {
        measured += "BenchmarkRead-24  " + std::to_string(469'880 + i) + "  " + std::to_string(2'415 + i) + " ns/op  " +
                    std::to_string(17 + i) + " allocs/op\n";
        dump += "\x1b[36m<div\x1b[0m\n>\n  part " + std::string(1, static_cast<char>('a' + i % 26)) + "\n</div>\n";
    }
    CHECK_FALSE(condense(measured, {}, Language::english, TextAuthor::program));
    const auto form = condense(dump, {}, Language::english, TextAuthor::program);
    REQUIRE(form);
    CHECK(form->legend == "without colours");
    CHECK(form->text.starts_with("<div\n>\n  part a\n</div>\n<div\n>\n  part b\n"));
}

TEST_CASE("a list of two columns without names is no table", "[condensing]") {
    std::string refs;
    for (int i = 0; i < 200; ++i)
        refs += "ab574e9b37b0fe8205856bd3952962" + std::to_string(i) + "\trefs/tags/v" + std::to_string(i) + "\n";
    CHECK_FALSE(condense(refs, {}, Language::english, TextAuthor::program));
}

TEST_CASE("a diff keeps headers and changes, and says how much around them is left out", "[condensing]") {
    const std::string text =
        "diff --git a/src/a.c b/src/a.c\nindex 1..2 100644\n--- a/src/a.c\n+++ b/src/a.c\n"
        "@@ -10,9 +10,9 @@ int main() {\n one\n two\n three\n four\n-five\n+FIVE\n six\n seven\n eight\n nine\n"
        "@@ -40,3 +40,3 @@\n a\n--- b\n+++ c\n d\n";
    CHECK(form_of_text(text) ==
          "diff --git a/src/a.c b/src/a.c\nindex 1..2 100644\n--- a/src/a.c\n+++ b/src/a.c\n"
          "@@ -10,9 +10,9 @@ int main() {\n[..3]\n four\n-five\n+FIVE\n six\n[..3]\n"
          "@@ -40,3 +40,3 @@\n a\n--- b\n+++ c\n d\n");
}

TEST_CASE("changes of lock files are counted only", "[condensing]") {
    std::string text =
        "diff --git a/package-lock.json b/package-lock.json\n--- a/package-lock.json\n"
        "+++ b/package-lock.json\n@@ -1,100 +1,200 @@\n";
    for (int i = 0; i < 100; ++i) text += "-old\n+new\n+more\n";
    text += "diff --git a/x.c b/x.c\n--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-a\n+b\n";
    const std::string form = form_of_text(text);
    CHECK(has(form, "+++ b/package-lock.json\n[..1 @@, +200 -100]\ndiff --git a/x.c"));
    CHECK(form.ends_with("@@ -1 +1 @@\n-a\n+b\n"));
}

TEST_CASE("a diff that does not keep to its own counts is not touched", "[condensing]") {
    const std::string text =
        "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n one\n two\n three\n-four\n+FOUR\n five\nsix\n seven\n";
    CHECK(form_of_text(text).empty());
    CHECK(form_of_text("@@ -1,5 +1,5 @@\n no file above\n").empty());
}

TEST_CASE("all changed lines of any diff stay, in their order", "[condensing]") {
    for (std::size_t seed = 0; seed < 100; ++seed) {
        Dice dice(seed);
        std::string text = "--- a/f\n+++ b/f\n";
        std::string changes;
        for (std::size_t hunks = 1 + dice.below(4); hunks > 0; --hunks) {
            std::string body;
            std::size_t before = 0;
            std::size_t after = 0;
            for (std::size_t i = 1 + dice.below(40); i > 0; --i) {
                const char mark = dice.one_in(5) ? '+' : dice.one_in(5) ? '-' : ' ';
                before += mark != '+' ? 1 : 0;
                after += mark != '-' ? 1 : 0;
                const std::string line = mark + std::string("-- ") + std::to_string(dice.below(100)) + "\n";
                body += line;
                if (mark != ' ') changes += line;
            }
            text += "@@ -1," + std::to_string(before) + " +1," + std::to_string(after) + " @@\n" + body;
        }
        const std::string form = form_of_text(text);
        if (form.empty()) continue;
        std::string shown;
        bool is_file_header = true;
        for (std::size_t at = 0; at < form.size();) {
            const std::size_t end = form.find('\n', at);
            const std::string line = form.substr(at, end + 1 - at);
            at = end + 1;
            if (line.starts_with("@@")) is_file_header = false;
            if (!is_file_header && (line[0] == '+' || line[0] == '-')) shown += line;
        }
        CHECK(shown == changes);
    }
}

TEST_CASE("a page becomes its text", "[condensing]") {
    const std::string page = R"(<!DOCTYPE html><html><head><title>Taxes &amp; fees</title>
<style>p > a { color: red }</style><script>if (a < b) document.write("<p>no</p>");</script></head>
<body><nav><a href="/">Home</a><a href="/x">X</a></nav>
<h1>Fees&nbsp;2026</h1><!-- <p>old</p> -->
<p>See the <a href="https://example.org/l?a=1&amp;b=2">list</a> or <a href="#top">top</a>.<br>Next   line</p>
<ul><li>one<ul><li>inner</li></ul></li><li>two &#8212; &#x41;&unknown;</li></ul>
<table><tr><th>Name</th><th>Sum</th></tr><tr><td>A</td><td>1</td></tr></table>
<pre>  keep
    this</pre><img src="a.png" alt="a chart"><img src="b.png"></body></html>)";
    const auto form = condense(page, {}, Language::english);
    REQUIRE(form);
    CHECK(form->format == TextFormat::html);
    CHECK(form->text ==
          "# Taxes & fees\n\n# Fees 2026\n\nSee the list (https://example.org/l?a=1&b=2) or top.\nNext line\n\n"
          "- one\n  - inner\n- two — A&unknown;\n\nName | Sum\nA | 1\n\n  keep\n    this\n\n[image: a chart]\n");
    CHECK(has(form->legend, "1 menus, 1 pictures without a description"));
}

TEST_CASE("rows of a page stay rows where cells are empty, and a link without words stays a link", "[condensing]") {
    const std::string page = R"(<!DOCTYPE html><html><body><p>Quarters of the year, by region and sum</p><table>
<tr><th></th><th>Q1</th><th>Q2</th></tr><tr><td>a</td><td>1</td><td>2</td></tr><tr><td></td><td></td><td>c</td></tr></table>
<p>The report: <a href="/report.pdf"><img src="pdf.png"></a></p></body></html>)";
    const std::string form = form_of_text(page);
    CHECK(has(form, "sum\n\n| Q1 | Q2\na | 1 | 2\n| "));
    CHECK(has(form, "| c\n"));
    CHECK(has(form, "(/report.pdf)"));
}

TEST_CASE("lines that end in a carriage return, and errors that progress ran over, are no progress", "[condensing]") {
    std::string mac = "name,state\r";
    for (int i = 0; i < 400; ++i) mac += "item " + std::to_string(i) + ",sold to a customer in town\r";
    const auto form = condense(mac, {}, Language::english, TextAuthor::program);
    if (form) CHECK(has(form->text, "item 7,sold"));

    std::string build;
    for (int i = 0; i < 30; ++i) build += "compiling part " + std::to_string(i) + " of 30\rcompiling part 30 of 30\n";
    build += "ERROR: disk is full, trying again\r100% done\n";
    const auto log = condense(build, {}, Language::english, TextAuthor::program);
    REQUIRE(log);
    CHECK(has(log->text, "disk is full"));
}

TEST_CASE("an address of hardware is no time, so that a list of hosts is no log", "[condensing]") {
    std::string hosts;
    for (int i = 10; i < 90; ++i) {
        const std::string n = std::to_string(i);
        hosts += "host-" + n + " 10.0.0." + n + " 52:54:00:12:34:" + n + " 10.1.0." + n + " online\n";
    }
    CHECK(form_of_text(hosts).empty());
}

TEST_CASE("an inch is no quote: rows of a table are counted one by one", "[condensing]") {
    std::string rows = "name\tsize\tstate\n";
    for (int i = 0; i < 600; ++i)
        rows += "part " + std::to_string(i) + "\t" + (i == 100 || i == 500 ? "3\" bolt" : "3 bolt") + "\tsold\n";
    const std::string form = form_of_text(rows);
    REQUIRE_FALSE(form.empty());
    CHECK(form.size() < rows.size() / 3);
}

TEST_CASE("a page that is broken or hostile gives text, and never ends early", "[condensing]") {
    const std::string start = "<!doctype html><p>before the trouble there is a text of some length</p>";
    for (const char* trouble :
         {"<nav>unclosed", "<!-- unclosed", "<a href=\"unclosed>", "<p class='x", "<", "</", "<svg><template>",
          "<title>unclosed", "</p></div></ul></nav>", "<<<<>>>>", "&#99999999;&#xD800;&;&#;&amp", "<table><td><td>"}) {
        const std::string form = form_of_text(start + trouble + "<p>behind it</p>");
        CHECK(has(form, "before the trouble"));
        CHECK(has(form, "behind it"));
        CHECK(is_valid_utf8(form));
    }
    CHECK_FALSE(has(form_of_text(start + "<script>var x = '<p>in it</p>'"), "in it"));
}

TEST_CASE("Markdown with some tags in it is no page", "[condensing]") {
    std::string text = "<div align=\"center\"><h1>Name</h1></div>\n\n";
    for (int i = 0; i < 60; ++i) text += "## Part " + std::to_string(i) + "\n\nSome *words* on what it does.\n\n";
    CHECK(form_of_text(text).empty());
}

TEST_CASE("a table keeps its header, its ends and its outliers", "[condensing]") {
    std::string csv = "name,state,size\n";
    std::string markdown = "| name | state | size |\n|---|---|---|\n";
    std::string aligned = "NAME      STATUS    AGE\n";
    for (int i = 0; i < 100; ++i) {
        const std::string name = "pod-" + std::to_string(i);
        const std::string state = i == 55 ? "CrashLoop" : "Running";
        const std::string size = std::to_string(i == 66 ? 90'000 : 20 + i % 5);
        csv += "\"" + name + "\"," + state + "," + size + "\n";
        markdown += "| " + name + " | " + state + " | " + size + " |\n";
        aligned += name + "    " + state + "   " + size + "\n";
    }
    for (const std::string& text : {csv, markdown, aligned}) {
        const auto form = condense(text, {}, Language::english);
        REQUIRE(form);
        CHECK(form->format == TextFormat::table);
        CHECK(form->text.starts_with(text.substr(0, text.find("pod-") - (text[text.find("pod-") - 1] == '"' ? 1 : 0))));
        for (const char* part : {"pod-0", "pod-11", "CrashLoop", "90000", "pod-99", "\n[..43]\n"})
            CHECK(has(form->text, part));
        CHECK_FALSE(has(form->text, "pod-40"));
        CHECK(has(form->legend, "of its 100 rows are left out"));
        CHECK(lines_of(form->text, "[..43]") == 1);
    }
}

TEST_CASE("rows of CSV may have line feeds and commas in quotes", "[condensing]") {
    std::string csv = "id,text,by\n";
    for (int i = 0; i < 80; ++i)
        csv += std::to_string(i) + ",\"first, of " + std::to_string(i) + "\nsecond \"\"line\"\"\",me\n";
    const std::string form = form_of_text(csv);
    CHECK(has(form, "0,\"first, of 0\nsecond \"\"line\"\"\",me\n"));
    CHECK_FALSE(has(form, "of 40\n"));
}

TEST_CASE("notices and legends are in the chain's language", "[condensing]") {
    const auto form = condense(json_rows(5), {}, Language::chinese);
    REQUIRE(form);
    CHECK(condensing_notice(*form, {.bytes = 1'234, .lines = 7, .location = "a/b", .reader = "read_offloaded"},
                            Language::chinese) ==
          "[JSON，原文 1,234 字节，7 行，无损压缩：键相同的对象按行排列：{\"@columns\":[键],\"@rows\":[[值],..]}。"
          "原文：a/b，用 read_offloaded 读取]\n");
    CHECK(condensing_notice({.format = TextFormat::log, .legend = "x"}, {.bytes = 12, .lines = 3}, Language::english) ==
          "[log of 12 bytes, 3 lines, condensed: x]\n");
}
