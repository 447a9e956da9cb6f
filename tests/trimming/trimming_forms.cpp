// What is left of reads, outputs and arguments.
#include "support/catch.hpp"

#include "../../src/trimming/extract_form.hpp"
#include "../../src/trimming/json_strings.hpp"
#include "../../src/trimming/old_arguments.hpp"
#include "../../src/trimming/read_form.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;
using namespace whittle::detail;

namespace {

constexpr TrimUnit by_lines = TrimUnit::lines;
constexpr ExtractSizes half_a_kilobyte{.bytes = 500};

TrimmingSettings from_bytes(std::int64_t bytes) {
    TrimmingSettings settings{.config = {.unit = TrimUnit::lines, .min_argument_bytes = bytes}};
    settings.rules.ages = {.rare = 50, .other = 4};
    return settings;
}

constexpr ResultForm numbered_read{.kind = ResultClass::read, .marks = LineMarks::numbers};
constexpr ResultForm plain_read{.kind = ResultClass::read};
constexpr ResultForm program{.kind = ResultClass::shell};

std::string numbered(const std::vector<std::string>& lines) {
    std::string text;
    for (std::size_t i = 0; i < lines.size(); ++i)
        text += (i == 0 ? "" : "\n") + std::to_string(i + 1) + "\t" + lines[i];
    return text;
}

void touch_all(const std::string& text, int call, LineIndex& index) {
    for (const std::string_view line : split_lines(text))
        index.touch(index.id_of(normal_line(line, LineMarks::numbers)), call);
}

}  // namespace

TEST_CASE("a read without changes shows its lines, numbers at their start only", "[trimming]") {
    LineIndex index;
    const std::string text = numbered({"first line here", "second line here", "third line here"});
    CHECK(ReadForm(text, numbered_read, by_lines, index).text("[k]") ==
          "[k]\n1\tfirst line here\nsecond line here\nthird line here");
    CHECK(ReadForm(text, numbered_read, TrimUnit::passages, index).text("[k]") == "[k]\n" + text);
}

TEST_CASE("lines that stand elsewhere make way for their number", "[trimming]") {
    LineIndex index;
    const std::vector<std::string> lines{"first line here", "a line that was shown above, all of it",
                                         "another one that was shown above", "}", "last line here"};
    index.show(index.id_of(lines[1]), LineIndex::never);
    index.show(index.id_of(lines[2]), LineIndex::never);
    ReadForm read(numbered(lines), numbered_read, by_lines, index);
    read.drop_shown(0, 0, index);
    CHECK(read.text("[k]") == "[k]\n1\tfirst line here\n..\n5\tlast line here");
    ReadForm bare("first line here\na line that was shown above, all of it\nlast line here", plain_read, by_lines,
                  index);
    bare.drop_shown(0, 0, index);
    CHECK(bare.text("[k]") == "[k]\nfirst line here\n[..1]\nlast line here");
}

TEST_CASE("lines that an edit took out later are dropped, those that it took out before are not", "[trimming]") {
    LineIndex index;
    const std::string text = "a line of the file that an edit replaces\nanother line of the file, kept";
    index.kill(index.id_of("a line of the file that an edit replaces"), 5);
    ReadForm earlier(text, plain_read, by_lines, index);
    earlier.drop_shown(0, 3, index);
    CHECK(earlier.text("[k]") == "[k]\n[..1]\nanother line of the file, kept");
    ReadForm later(text, plain_read, by_lines, index);
    later.drop_shown(0, 5, index);
    CHECK(later.text("[k]") == "[k]\n" + text);
}

TEST_CASE("old lines go but for those near a rare word", "[trimming]") {
    LineIndex index;
    std::vector<std::string> lines(20, "common common common common");
    lines[10] = "the singular identifier";
    const std::string text = numbered(lines);
    touch_all(text, 1, index);
    ReadForm read(text, numbered_read, by_lines, index);
    int next = 0;
    const auto stays = read.find_old(index, {.rare = 50, .other = 4, .near_lines = 1}, 10, next);
    REQUIRE(stays.size() == 20);
    CHECK_FALSE(stays[8]);
    CHECK(stays[9]);
    CHECK(stays[11]);
    CHECK(next == 52);
    read.keep(stays);
    CHECK(read.ranges() == LineRanges{{9, 12}});
    CHECK(read.text("[k]") ==
          "[k]\n..\n10\tcommon common common common\nthe singular identifier\ncommon common common common\n[..8]");
    int later = 0;
    CHECK(read.find_old(index, {.rare = 50, .other = 4, .near_lines = 1}, 51, later).empty());
    CHECK_FALSE(read.find_old(index, {.rare = 50, .other = 4, .near_lines = 1}, 52, later).empty());
}

TEST_CASE("a form made anew from its ranges is the same", "[trimming]") {
    LineIndex index;
    const std::string text = numbered({"line number one", "line number two", "line number three", "line number four"});
    ReadForm read(text, numbered_read, by_lines, index);
    read.keep(std::vector<bool>{true, false, false, true});
    ReadForm again(text, numbered_read, by_lines, index);
    again.keep(read.ranges());
    CHECK(again.text("[k]") == read.text("[k]"));
    CHECK(again.ranges() == read.ranges());
}

TEST_CASE("a result that comes keeps its head as it is", "[trimming]") {
    LineIndex index;
    const std::vector<std::string> lines{"first line here", "second line here",
                                         "a line shown above that is long enough", "fourth line here"};
    index.show(index.id_of(lines[2]), LineIndex::never);
    ReadForm read(numbered(lines), numbered_read, by_lines, index);
    read.drop_shown(2, 1, index);
    CHECK(read.text("[k]", 2) == "1\tfirst line here\n2\tsecond line here\n[k]\n..\n4\tfourth line here");
}

TEST_CASE("reminders go with the blank lines around them", "[trimming]") {
    CHECK(without_reminders("a\n\n<system-reminder>x\ny</system-reminder>\n\nb") == "a\nb");
    CHECK(without_reminders("a<system-reminder>open") == "a<system-reminder>open");
    CHECK(without_reminders("plain") == "plain");
}

TEST_CASE("of an output errors and ends stay, and a number in place of the others", "[trimming]") {
    LineIndex index;
    std::string text = "start of the run\n";
    for (int i = 0; i < 100; ++i) text += "noise " + std::to_string(i) + "\n";
    text += "main.c:3: error: expected ;\nmore noise\nlast but one\nlast line\n";
    const std::string extract = extract_of(text, program, "[k]", 1, index, half_a_kilobyte);
    CHECK(extract ==
          "[k]\nstart of the run\nnoise 0\n[..99]\nmain.c:3: error: expected ;\nmore noise\nlast but one\nlast line");
    CHECK(last_of_extract(extract, "[k]") == "[k]\nmain.c:3: error: expected ;");
    CHECK(last_of_extract("[k]\nfirst\nsecond", "[k]") == "[k]\nsecond");
}

TEST_CASE("lines with a word that came up since stay in an extract", "[trimming]") {
    LineIndex index;
    std::string text;
    for (int i = 0; i < 60; ++i) text += "package number" + std::to_string(i) + " built\n";
    index.use_words("what about number31 then", 5);
    CHECK(extract_of(text, program, "[k]", 4, index, half_a_kilobyte).find("number31") != std::string::npos);
    CHECK(extract_of(text, program, "[k]", 5, index, half_a_kilobyte).find("number31") == std::string::npos);
}

TEST_CASE("folding leaves the head and drops what repeats", "[trimming]") {
    std::string hits;
    for (int i = 1; i < 30; ++i) hits += "src/some/long/path.c:" + std::to_string(i) + ":text\n";
    const auto shown = folded_output(hits, "[k]", 30);
    REQUIRE(shown);
    CHECK(shown->starts_with("src/some/long/path.c:1:text\nsrc/some/long/path.c:2:text\n[k]\n3:text\n4:text\n"));
    std::string progress = std::string(40, 'x') + "\n";
    for (int i = 0; i < 30; ++i) progress += "working...\rdone 10\rdone 20\n";
    CHECK(folded_output(progress, "[k]", 20) == std::string(40, 'x') + "\n[k]\ndone 20\n[.. 29 equal]\n");
    CHECK(folded_output("\x1b[31mred\x1b[0m and long enough for a head of its own\n" + std::string(200, 'y'), "[k]",
                        20) == std::nullopt);
    CHECK(folded_output("all on one line that is never cut, however long it is", "[k]", 10) == std::nullopt);
}

TEST_CASE("the strings of a JSON text are found with their keys, at any depth", "[trimming]") {
    const auto strings = json_strings(R"({"a":"x","b":[{"c":"y\n"},"z"],"d":{"e":1,"f":"\u00e4"}})");
    REQUIRE(strings.size() == 4);
    CHECK(strings[0].key == "a");
    CHECK(strings[1].key == "c");
    CHECK(strings[1].value == "y\n");
    CHECK(strings[2].key == "b");
    CHECK(strings[3].value == "ä");
    const std::string deep(100'000, '[');
    CHECK(json_strings(deep).empty());
}

TEST_CASE("of an old edit what was replaced goes, and the JSON keeps its shape", "[trimming]") {
    LineIndex index;
    const std::string old_text =
        "a line that goes\nanother line that goes\nand a third line that goes too, to be long enough for it";
    const std::string new_text = "a line that comes\n";
    const nlohmann::ordered_json call{
        {"file_path", "src/a.c"}, {"n", 1.50}, {"old_string", old_text}, {"new_string", new_text}, {"all", false}};
    const std::string arguments = call.dump() + " ";
    int next = 0;
    const auto now = old_arguments(arguments, true, "[k/7a]", index, 10, from_bytes(100), next);
    REQUIRE(now);
    const auto json = nlohmann::ordered_json::parse(*now);
    CHECK(json["old_string"] == "[..3] [k/7a]");
    CHECK(json["new_string"] == new_text);
    CHECK(json.begin().key() == "file_path");
    CHECK(now->find("\"n\":1.5,") != std::string::npos);
    CHECK(now->back() == ' ');
}

TEST_CASE("what an edit put in goes line by line once nobody comes back to it", "[trimming]") {
    LineIndex index;
    std::string content;
    for (int i = 0; i < 20; ++i) content += "line number " + std::to_string(i) + " of the new file\n";
    for (const std::string_view line : split_lines(content)) index.touch(index.id_of(line), 2);
    index.touch(index.id_of("line number 7 of the new file"), 40);
    const std::string arguments = nlohmann::json{{"content", content}, {"path", "a"}}.dump();
    int next = 0;
    CHECK(old_arguments(arguments, true, "[k]", index, 52, from_bytes(240), next) == std::nullopt);
    CHECK(next == 53);
    const auto now = old_arguments(arguments, true, "[k]", index, 53, from_bytes(240), next);
    REQUIRE(now);
    CHECK(nlohmann::json::parse(*now)["content"] == "[..7]\nline number 7 of the new file\n[..13]\n[k]");
}

TEST_CASE("a patch loses at once what it takes out", "[trimming]") {
    LineIndex index;
    const std::string patch =
        "*** Begin Patch\n*** Update File: a.c\n@@ int main\n-    old line of code that is long enough\n-    second "
        "old line of code\n+    new line of code\n*** End Patch";
    const CallText text = text_of_call(nlohmann::json{{"input", patch}}.dump(), true);
    CHECK(text.gone.find("    old line of code") != std::string::npos);
    CHECK(text.shown.find("+") == std::string::npos);
    index.touch(index.id_of("new line of code"), 9);
    int next = 0;
    const auto now =
        old_arguments(nlohmann::json{{"input", patch}}.dump(), true, "[k]", index, 10, from_bytes(50), next);
    REQUIRE(now);
    CHECK(nlohmann::json::parse(*now)["input"] ==
          "*** Begin Patch\n*** Update File: a.c\n@@ int main\n[..2]\n+    new line of code\n*** End Patch\n[k]");
}

TEST_CASE("short arguments, and those of other tools without many lines, stay", "[trimming]") {
    LineIndex index;
    int next = 0;
    CHECK(old_arguments(R"({"old_string":"x"})", true, "[k]", index, 99, from_bytes(240), next) == std::nullopt);
    CHECK(old_arguments(nlohmann::json{{"query", std::string(500, 'x')}}.dump(), false, "[k]", index, 99,
                        from_bytes(240), next) == std::nullopt);
}
