// Borders of grapheme clusters as others find them: node's Intl.Segmenter, and Unicode's own cases.
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

#include "whittle/base/detail/graphemes.hpp"

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;

namespace {

using CodePoints = std::vector<std::uint32_t>;

void append_utf8(std::string& text, std::uint32_t c) {
    const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
    if (c < 0x80) return add(c);
    if (c < 0x800) add(0xC0U | c >> 6U);
    if (c >= 0x800 && c < 0x10000) add(0xE0U | c >> 12U);
    if (c >= 0x10000) {
        add(0xF0U | c >> 18U);
        add(0x80U | (c >> 12U & 0x3FU));
    }
    if (c >= 0x800) add(0x80U | (c >> 6U & 0x3FU));
    add(0x80U | (c & 0x3FU));
}

std::string utf8_of(const CodePoints& points) {
    std::string text;
    for (const std::uint32_t c : points) append_utf8(text, c);
    return text;
}

/// The bytes at which clusters begin, as the script writes them.
std::string starts_of(std::string_view text) {
    detail::Clusters clusters(text);
    std::string starts;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool is_inside = (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
        if (is_inside || !clusters.is_border(at)) continue;
        starts.append(starts.empty() ? "" : " ").append(std::to_string(at));
    }
    return starts;
}

std::string in_hex(const CodePoints& points) {
    std::ostringstream line;
    for (const std::uint32_t c : points) line << std::hex << c << ' ';
    return line.str();
}

/// Code points of every class that are the same in Unicode 15.1 to 17. Of the conjuncts, scripts of 15.1.
const CodePoints of_all_classes{
    'a',     '\r',    '\n',   0x1B,    0xE9,    0xAD,    0x300,   0x308,  0x200B, 0x200C,   0x200D,  0xFE0F,  0x20E3,
    0x600,   0x6DD,   0x903,  0xE33,   0x1100,  0x115F,  0x1160,  0x11A2, 0x11A8, 0xAC00,   0xAC01,  0xD7A3,  0xA960,
    0xD7B0,  0xD7CB,  0x915,  0x937,   0x94D,   0x93C,   0x9AF,   0x9CD,  0xC15,  0xC4D,    0x1F1E6, 0x1F1FA, 0x1F1FF,
    0x1F469, 0x1F3FB, 0x2764, 0x1F3F4, 0xE0067, 0xE007F, 0x1F680, 0xA9,   0x4E2D, 0x10FFFF, 0x378};

std::vector<CodePoints> generated_texts(std::size_t count) {
    std::mt19937 random(29);
    std::vector<CodePoints> texts;
    for (std::size_t i = 0; i < count; ++i) {
        // A few of them at a time: what belongs together meets more often.
        CodePoints some(2 + random() % 5);
        for (std::uint32_t& c : some) c = of_all_classes[random() % of_all_classes.size()];
        CodePoints& text = texts.emplace_back(1 + random() % 24);
        for (std::uint32_t& c : text) c = some[random() % some.size()];
    }
    return texts;
}

std::vector<std::string> lines_of_file(const std::string& file) {
    std::vector<std::string> lines;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

/// A line of GraphemeBreakTest.txt: "÷ 0020 × 0308 ÷ 0020 ÷ # ...".
struct BreakCase {
    std::string text{};
    std::string starts{};
};

BreakCase break_case(const std::string& line) {
    std::istringstream words(line.substr(0, line.find('#')));
    BreakCase found;
    bool begins = false;
    for (std::string word; words >> word;) {
        if (word == "÷" || word == "×") {
            begins = word == "÷";
            continue;
        }
        if (begins) found.starts.append(found.starts.empty() ? "" : " ").append(std::to_string(found.text.size()));
        append_utf8(found.text, static_cast<std::uint32_t>(std::stoul(word, nullptr, 16)));
    }
    return found;
}

}  // namespace

TEST_CASE("clusters are those that Intl.Segmenter finds", "[text]") {
    const std::string has_node = "node -e 'process.exit(parseFloat(process.versions.unicode) >= 15.1 ? 0 : 1)'";
    if (std::system((has_node + " > /dev/null 2>&1").c_str()) != 0)
        SKIP_WITH_MESSAGE("there is no node whose Unicode is 15.1 or newer");
    const testing::TempDir dir;
    const std::vector<CodePoints> texts = generated_texts(20'000);
    std::ofstream in(dir / "in");
    for (const CodePoints& text : texts) in << in_hex(text) << '\n';
    in.close();
    const std::string script = "node '" WHITTLE_SOURCE_DIR "/tests/base/segmenter.mjs' '";
    REQUIRE(std::system((script + (dir / "in") + "' > '" + (dir / "out") + "'").c_str()) == 0);
    const std::vector<std::string> expected = lines_of_file(dir / "out");
    REQUIRE(expected.size() == texts.size() + 1);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        CAPTURE(expected[0], in_hex(texts[i]));
        REQUIRE(starts_of(utf8_of(texts[i])) == expected[i + 1]);
    }
}

TEST_CASE("clusters are those of Unicode's own cases", "[text]") {
    const char* const file = std::getenv("WHITTLE_GRAPHEME_BREAK_TEST");
    if (file == nullptr)
        SKIP_WITH_MESSAGE(
            "WHITTLE_GRAPHEME_BREAK_TEST names no GraphemeBreakTest.txt; the source package of graphemeu "
            "on PyPI has one");
    const std::vector<std::string> lines = lines_of_file(file);
    REQUIRE_FALSE(lines.empty());
    std::size_t cases = 0;
    std::size_t different = 0;
    for (const std::string& line : lines) {
        if (!line.starts_with("÷")) continue;
        const BreakCase one = break_case(line);
        ++cases;
        if (starts_of(one.text) == one.starts) continue;
        ++different;
        UNSCOPED_INFO(line);
    }
    CHECK(cases > 500);
    // Unicode 17 has conjuncts in more scripts, and fewer emoji.
    const bool is_ours = lines[0].find("-16.") != std::string::npos;
    CHECK(different <= (is_ours ? 0 : cases / 50));
}
