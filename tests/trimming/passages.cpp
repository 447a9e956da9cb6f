// How texts are cut into passages: by blank lines, indentation and form, whatever they are written in.
#include "support/catch.hpp"

#include "../../src/trimming/read_form.hpp"
#include "whittle/trimming/detail/line_forms.hpp"

#include <string>
#include <string_view>
#include <vector>

using namespace whittle;
using namespace whittle::detail;

namespace {

/// A text of many units, each between `begin` and `end` marks of its own first and last line.
struct Units {
    std::string name{};
    std::string text{};
    std::vector<std::pair<std::size_t, std::size_t>> lines{};  // of each unit

    void add(const std::string& unit, std::string_view separator) {
        const std::size_t first = static_cast<std::size_t>(std::ranges::count(text, '\n'));
        text += unit;
        lines.emplace_back(first, static_cast<std::size_t>(std::ranges::count(text, '\n')));
        text += separator;
    }
};

std::string body(int lines, const std::string& indent, const std::string& statement, bool with_blanks = true) {
    std::string text;
    for (int i = 0; i < lines; ++i) {
        text += indent + statement + " " + std::to_string(i) + "\n";
        if (with_blanks && i % 5 == 4 && i + 1 < lines) text += "\n";  // a blank line within
    }
    return text;
}

/// Units of 6 to 16 lines, as programs and tools write them.
std::vector<Units> all_units() {
    std::vector<Units> all{{"go"},   {"python"}, {"c++"},     {"typescript"}, {"rust"},
                           {"ruby"}, {"diff"},   {"go test"}, {"json"},       {"prose"}};
    for (int i = 0; i < 40; ++i) {
        const int size = 4 + (i * 7) % 11;
        const std::string n = std::to_string(i);
        all[0].add("// Do" + n + " does it.\nfunc Do" + n + "(x int) error {\n" + body(size, "\t", "x +=") +
                       "\treturn nil\n}\n",
                   "\n");
        all[1].add("def do_" + n + "(x):\n" + body(size, "    ", "x +=") + "    return x\n", "\n\n");
        all[2].add("int do_" + n + "(int x) {\n" + body(size, "    ", "x +=") + "    return x;\n}\n", "\n");
        all[3].add("export function do" + n + "(x: number) {\n" + body(size, "  ", "x +=") + "  return x;\n}\n", "\n");
        all[4].add("pub fn do_" + n + "(x: i64) -> i64 {\n" + body(size, "    ", "x +=") + "    x\n}\n", "\n");
        all[5].add("def do_" + n + "(x)\n" + body(size, "  ", "x +=") + "end\n", "\n");
        all[6].add("@@ -" + n + ",9 +" + n + ",9 @@\n" + body(size, " ", "context"), "");
        all[7].add("--- FAIL: TestDo" + n + " (0.00s)\n" + body(size, "    ", "do_test.go: want"), "");
        all[8].add("  {\n    \"id\": " + n + ",\n" + body(size, "    ", "\"field\":", false) + "  },\n", "");
        all[9].add(body(size, "", "A sentence of a paragraph about nothing in particular, number " + n, false), "\n");
    }
    return all;
}

LineRanges of_fixed_width(std::size_t lines, std::size_t width) {
    LineRanges ranges;
    for (std::size_t at = 0; at < lines; at += width)
        ranges.emplace_back(static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(std::min(at + width, lines)));
    return ranges;
}

/// The share of units that stand in one passage.
double whole_share(const Units& units, const LineRanges& passages) {
    const auto is_whole = [&](const auto& unit) {
        return std::ranges::any_of(passages, [&](const auto& passage) {
            return passage.first <= unit.first && unit.second <= passage.second;
        });
    };
    return static_cast<double>(std::ranges::count_if(units.lines, is_whole)) / static_cast<double>(units.lines.size());
}

}  // namespace

TEST_CASE("passages follow each other without a gap and keep to their size", "[trimming]") {
    for (const Units& units : all_units()) {
        const auto lines = split_lines(units.text);
        for (const std::size_t most : {1U, 2U, 7U, 24U, 100'000U}) {
            std::uint32_t at = 0;
            for (const auto& [first, last] : cut_into_passages(lines, most)) {
                CHECK(first == at);
                CHECK(last > first);
                CHECK(last - first <= most);
                at = last;
            }
            CHECK(at == lines.size());
        }
    }
    CHECK(cut_into_passages({}, 24).empty());
}

TEST_CASE("functions, hunks, tests, objects and paragraphs stay whole where a fixed width cuts them", "[trimming]") {
    constexpr std::size_t most = 24;
    for (const Units& units : all_units()) {
        INFO(units.name);
        const auto lines = split_lines(units.text);
        const double by_form = whole_share(units, cut_into_passages(lines, most));
        const double fixed = whole_share(units, of_fixed_width(lines.size(), most));
        CHECK(by_form >= 0.9);
        CHECK(by_form > fixed + 0.1);
    }
}

TEST_CASE("a mark says what is gone and which call gives it back", "[trimming]") {
    const TextMark mark{"k/6", "read_offloaded", Language::english};
    CHECK(mark.of_lines(22, 157) ==
          R"([lines 22-178 of this result left out; read_offloaded("k/6", first_line=22, lines=157)])");
    CHECK(mark.of_lines(9, 1) == R"([line 9 of this result left out; read_offloaded("k/6", first_line=9, lines=1)])");
    CHECK(mark.of_result(178, 9'000) == R"([all 178 lines of this result left out; read_offloaded("k/6")])");
    CHECK(mark.of_result(1, 9'000) == R"([all 9000 bytes of this result left out; read_offloaded("k/6")])");
    CHECK(mark.of_argument("old_string", 48, 900) ==
          R"([48 lines of old_string left out; read_offloaded("k/6") gives this whole call])");
    CHECK(mark.of_argument(std::string(41, 'x'), 1, 900) ==
          R"([900 bytes of this argument left out; read_offloaded("k/6") gives this whole call])");
    const TextMark chinese{"k/6", "read_offloaded", Language::chinese};
    CHECK(chinese.of_lines(22, 157) == R"([省略本结果第 22-178 行；read_offloaded("k/6", first_line=22, lines=157)])");
    CHECK(chinese.of_result(178, 9'000) == R"([省略本结果全部 178 行；read_offloaded("k/6")])");
    CHECK(chinese.of_argument("content", 1, 90) == R"([省略 content 的 90 字节；read_offloaded("k/6") 给出整个调用])");
    CHECK(TextMark{}.of_result(48, 900) == "[all 48 lines of this result left out]");
    const TextMark file{"/store/k/6", "read_file", Language::english};
    CHECK(file.of_lines(22, 157) ==
          "[lines 22-178 of this result left out. Full text: /store/k/6 - read it with read_file]");
}
