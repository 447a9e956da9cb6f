// Condensing of texts of hostile shapes. Their sizes are such that work with their square would not end in time.
#include "condensing.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

constexpr int hostile_size = 500'000;

std::vector<std::pair<std::string, std::string>> hostile_texts() {
    std::vector<std::pair<std::string, std::string>> texts;
    texts.emplace_back("deep arrays", std::string(hostile_size, '[') + std::string(hostile_size, ']'));
    texts.emplace_back("deep objects", repeat("{\"a\":", hostile_size / 4) + "1" + std::string(hostile_size / 4, '}'));
    texts.emplace_back("deep like objects",
                       repeat("[{\"a\":1},{\"a\":", hostile_size / 8) + "2" + repeat("}]", hostile_size / 8));
    texts.emplace_back("many numbers", "[1" + repeat(",1", 2 * hostile_size) + "]");
    texts.emplace_back("a string of quotes", "[\"" + repeat("\\\"", hostile_size) + "\"]");
    texts.emplace_back("one line", std::string(5 * hostile_size, 'x'));
    texts.emplace_back("equal lines", repeat("10:00:00 INFO the same again\n", 100'000));
    texts.emplace_back("equal errors", repeat("10:00:00 ERROR the same again\n at it\n", 100'000));
    texts.emplace_back("colours", repeat("\x1b[", hostile_size));
    texts.emplace_back("returns", repeat("\r", hostile_size));
    texts.emplace_back("open tags", "<html>" + repeat("<p", hostile_size));
    texts.emplace_back("open quotes", "<html>" + repeat("<a b=\"", hostile_size / 3));
    texts.emplace_back("open comments", "<html>" + repeat("<!--", hostile_size / 3));
    texts.emplace_back("open titles", "<html>" + repeat("<title>x", hostile_size / 3));
    texts.emplace_back("open menus", "<html>" + repeat("<nav>x", hostile_size / 3));
    texts.emplace_back("nested menus", "<html>" + repeat("<nav>x", 100'000) + repeat("</nav>", 100'000));
    texts.emplace_back("entities", "<html>" + repeat("&amp", hostile_size / 3));
    texts.emplace_back("attributes", "<html><a " + repeat("a=b ", hostile_size / 3) + ">x</a>");
    texts.emplace_back("hunks", "--- a/f\n+++ b/f\n" + repeat("@@ -1 +1 @@\n-a\n+b\n", 100'000));
    texts.emplace_back("a hunk that never ends",
                       "--- a/f\n+++ b/f\n@@ -1,999999999999999999999 +1 @@\n" + repeat(" a\n", hostile_size / 3));
    texts.emplace_back("rows", "a,b,c\n" + repeat("1,2,3\n", 200'000));
    texts.emplace_back("columns", repeat("a,", 100'000) + "\n" + repeat(repeat("1,", 100'000) + "\n", 9));
    texts.emplace_back("quotes", repeat("\"", hostile_size));
    texts.emplace_back("blank lines", repeat("\n", hostile_size));
    return texts;
}

}  // namespace

TEST_CASE("texts of hostile shapes are condensed in linear work, without a deep stack", "[condensing][large]") {
    CondensingConfig eager{.max_lossless_json_bytes = 0};
    for (const auto& [name, text] : hostile_texts()) {
        INFO(name);
        const auto form = condense(text, eager, Language::english);
        if (form) CHECK(form->text.size() <= text.size() + 64);
    }
}

TEST_CASE("a row of new names each is never left out, and so makes no shorter form", "[condensing]") {
    std::string text = "[";
    for (int i = 0; i < 100'000; ++i) text += (i > 0 ? "," : "") + std::string("{\"k") + std::to_string(i) + "\":1}";
    text += "]";
    const auto form = condense(text, {.max_lossless_json_bytes = 0}, Language::english);
    REQUIRE(form);
    CHECK(has(form->text, "\"k55555\""));
    const auto bench = CondensingBench::with_store({.max_condensed_bytes = 1 << 30});
    CHECK(bench.shown(text) == text);
}

TEST_CASE("a number of new values is not held for each column for ever", "[condensing]") {
    const std::string form = form_of_text("[" + repeat("{\"a\":1,\"b\":2},", 100'000) + "{\"a\":1,\"b\":3}]");
    CHECK(form.size() < 1'000);
    CHECK(has(form, "[1,3]"));
}
