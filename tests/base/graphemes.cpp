// Cuts of text that split no grapheme cluster.
#include "support/catch.hpp"

#include "whittle/base/detail/graphemes.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;

namespace {

using ClusterList = std::vector<std::string>;

/// Texts as the clusters that they are made of. Each of these is longer than one code point, or stands between some.
const std::vector<ClusterList> clustered_texts{
    {"e\u0301", "a\u0308\u0323", "n"},  // letters with marks behind them
    {"a", "\r\n", "\n", "\r", "b"},     // CR LF
    {"\r", "\u0301", "x"},              // nothing joins a control character
    {"👩‍👩‍👧‍👦", "👩🏻‍❤️‍💋‍👩🏻",
     "🧑‍🚀"},                                                   // joined emoji, with tones of skin
    {"❤️", "1️⃣", "👍🏽", "x\u200D", "👩"},                 // a joiner behind a letter joins no emoji
    {"🇩🇪", "🇫🇷", "🇺", "a", "🇺🇳", "🇪"},                                 // flags, and halves of some
    {"🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏴"},                          // a flag of tags
    {"क्षि", "त्रि", "क\u0301\u094D\u200Dष", "क\u200C", "ष"},            // conjuncts
    {"क\u093C", "ष", "क\u200D", "ष", "क\u0301\u093C", "क"},            // no linker, no conjunct
    {"க்", "ஷி"},                                                       // a script whose virama links nothing
    {"กำ", "น้ำ"},                                                      // spacing marks
    {"\u0600\u0031", "\u06DD\u0661"},                                  // signs that stand in front
    {"\u1112\u1161\u11AB", "가", "각\u11A8", "\u1100\u1100가", "가"},  // Hangul, composed and not
    {"Z\u0351\u036B\u0343\u036A\u0302\u036B\u033D\u034F\u0334\u0319\u0324\u031E\u0349\u035A", "!"},
};

std::string joined(const ClusterList& clusters) {
    return std::accumulate(clusters.begin(), clusters.end(), std::string());
}

std::vector<std::size_t> borders_of(const ClusterList& clusters) {
    std::vector<std::size_t> borders{0};
    for (const std::string& cluster : clusters) borders.push_back(borders.back() + cluster.size());
    return borders;
}

std::string code_point_prefix(std::string_view text, std::size_t bytes) {
    while (bytes > 0 && bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
    return std::string(text.substr(0, bytes));
}

std::string code_point_suffix(std::string_view text, std::size_t bytes) {
    std::size_t begin = text.size() - std::min(bytes, text.size());
    while (begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) ++begin;
    return std::string(text.substr(begin));
}

/// The prefix that ends with the last of `borders` in it; between code points if that is the front.
std::string expected_prefix(std::string_view text, const std::vector<std::size_t>& borders, std::size_t bytes) {
    const std::size_t border = *(std::ranges::upper_bound(borders, bytes) - 1);
    return border > 0 ? std::string(text.substr(0, border)) : code_point_prefix(text, bytes);
}

std::string expected_suffix(std::string_view text, const std::vector<std::size_t>& borders, std::size_t bytes) {
    const std::size_t border = *std::ranges::lower_bound(borders, text.size() - std::min(bytes, text.size()));
    return border < text.size() ? std::string(text.substr(border)) : code_point_suffix(text, bytes);
}

/// Marks, joiners, halves of flags, jamo, conjuncts, controls, and bytes that are not UTF-8.
const std::vector<std::string> shreds{"a",      "\r",     "\n",     "é",        "\u0301", "\u200D", "\u200C",
                                      "\u0903", "\u0600", "🇩",      "🇪",        "👩",      "❤",      "️",
                                      "🏽",   "ᄀ",     "ᅡ",     "ᆨ",       "가",     "각",     "क",
                                      "\u094D", "漢",     "\u00AD", "\xF0\x9F", "\x80",   "\xFF",   "\xE0\xA4"};

std::string shredded(std::mt19937& random, std::size_t most) {
    std::string text;
    for (std::size_t n = random() % most; n > 0; --n) {
        const std::string& shred = shreds[random() % shreds.size()];
        const std::size_t times = random() % 6 == 0 ? random() % 60 : 1;
        for (std::size_t i = 0; i < times; ++i) text += shred;
    }
    return text;
}

/// What a cut of `text` to `n` bytes does not keep of what is promised; empty if it keeps all.
std::string broken_promise(std::string_view text, std::size_t n) {
    const std::string_view head = grapheme_prefix(text, n);
    const std::string_view tail = grapheme_suffix(text, n);
    const std::size_t begin = text.size() - tail.size();
    if (head.size() > n || tail.size() > n) return "above the budget";
    if (n - std::min(head.size(), tail.size()) > detail::most_moved_bytes) return "moved beyond the bound";
    if (n >= 4 && (head.empty() || tail.empty())) return "empty";
    if (head.size() + grapheme_suffix(text, text.size() - n).size() > text.size()) return "head and tail overlap";
    // What is no border has none near it: going on from there finds itself.
    detail::Clusters clusters(text);
    if (clusters.border_before(head.size()) != head.size()) return "the head ends inside a cluster";
    if (clusters.border_behind(begin) != begin) return "the tail begins inside a cluster";
    return {};
}

/// Most of these rows is one cluster; in the others a cluster ends only now and then.
std::vector<std::string> hostile_rows(int times) {
    const auto row = [&](std::string text, std::string_view unit) {
        for (int i = 0; i < times; ++i) text += unit;
        return text + "z";
    };
    return {row("x", "\u0301"),       row("x", "\u200D"), row("", "👩\u200D"), row("x", "🇩"),        row("", "\u0600"),
            row("क", "\u094D\u0915"), row("ᄀ", "ᄀ"),    row("가", "ᆨ"),    row("x", "\u0903"),   row("👩", "\u0301"),
            row("x", "\xF0\x9F\x98"), row("x", "\x80"),   row("क", "\u094D"), row("", "\r\n\u0301")};
}

/// The most code points that a cut of `text` looks up. Cuts near both ends and in the middle.
std::size_t most_looked_up(std::string_view text) {
    std::size_t most = 0;
    for (const std::size_t place : {text.size() / 2, std::size_t{600}, text.size() - 600}) {
        for (std::size_t at = place; at < place + 24; ++at) {
            const std::size_t begin = code_point_prefix(text, at).size();
            detail::Clusters back(text);
            static_cast<void>(back.border_before(begin));
            detail::Clusters on(text);
            static_cast<void>(on.border_behind(begin));
            most = std::max({most, back.looked_up(), on.looked_up()});
        }
    }
    return most;
}

}  // namespace

TEST_CASE("no cut splits a grapheme cluster but a first one that does not fit", "[text]") {
    for (const ClusterList& clusters : clustered_texts) {
        const std::string text = joined(clusters);
        const std::vector<std::size_t> borders = borders_of(clusters);
        CAPTURE(text);
        for (std::size_t n = 0; n <= text.size() + 1; ++n) {
            CAPTURE(n);
            CHECK(grapheme_prefix(text, n) == expected_prefix(text, borders, n));
            CHECK(grapheme_suffix(text, n) == expected_suffix(text, borders, n));
        }
    }
}

TEST_CASE("every pair of texts is cut between its clusters as each of them is", "[text]") {
    for (const ClusterList& first : clustered_texts) {
        for (const ClusterList& second : clustered_texts) {
            ClusterList clusters = first;
            clusters.push_back(" ");
            clusters.insert(clusters.end(), second.begin(), second.end());
            const std::string text = joined(clusters);
            const std::vector<std::size_t> borders = borders_of(clusters);
            std::size_t wrong = 0;
            for (std::size_t n = 0; n <= text.size(); ++n) {
                wrong += grapheme_prefix(text, n) == expected_prefix(text, borders, n) ? 0U : 1U;
                wrong += grapheme_suffix(text, n) == expected_suffix(text, borders, n) ? 0U : 1U;
            }
            CAPTURE(text);
            REQUIRE(wrong == 0);
        }
    }
}

TEST_CASE("a row of flags is cut between flags, up to 256 of them", "[text]") {
    std::string text = "a";
    for (int i = 0; i < 256; ++i) text += "🇩🇪";
    for (std::size_t n = 9; n < text.size(); ++n) {
        REQUIRE(grapheme_prefix(text, n).size() % 8 == 1);
        REQUIRE(grapheme_suffix(text, n).size() % 8 == 0);
    }
}

TEST_CASE("whatever the bytes, a cut keeps to its budget, is a border within the bound, and is not empty for a cluster",
          "[text]") {
    std::mt19937 random(16);
    for (int round = 0; round < 100; ++round) {
        const std::string text = shredded(random, 60);
        for (std::size_t n = 0; n < text.size(); ++n) {
            const std::string broken = broken_promise(text, n);
            if (broken.empty()) continue;
            CAPTURE(text, n, broken);
            FAIL("a cut broke a promise");
        }
    }
    SUCCEED();
}

TEST_CASE("a longer budget never cuts earlier", "[text]") {
    std::mt19937 random(17);
    for (int round = 0; round < 60; ++round) {
        const std::string text = shredded(random, 60);
        std::size_t earlier = 0;
        for (std::size_t n = 1; n <= text.size(); ++n) {
            earlier += grapheme_prefix(text, n - 1).size() <= grapheme_prefix(text, n).size() ? 0U : 1U;
            earlier += grapheme_suffix(text, n - 1).size() <= grapheme_suffix(text, n).size() ? 0U : 1U;
        }
        CAPTURE(text);
        REQUIRE(earlier == 0);
    }
}

TEST_CASE("what stands further away than the bounds does not change a cut", "[text]") {
    std::mt19937 random(18);
    for (int round = 0; round < 100; ++round) {
        const std::string text = shredded(random, 90);
        const std::string in_front = shredded(random, 90) + "x";
        std::size_t changed = 0;
        for (std::size_t n = 0; n < text.size(); n += 7) {
            const std::size_t from = text.size() - n - std::min(text.size() - n, detail::look_back_bytes);
            changed += grapheme_suffix(in_front + text.substr(from), n) == grapheme_suffix(text, n) ? 0U : 1U;
        }
        CAPTURE(text);
        REQUIRE(changed == 0);
    }
}

TEST_CASE("a cluster without end is cut between its code points, in work that does not grow with it", "[text]") {
    const std::vector<std::string> short_rows = hostile_rows(2'000);
    const std::vector<std::string> long_rows = hostile_rows(50'000);
    for (std::size_t i = 0; i < short_rows.size(); ++i) {
        CAPTURE(i);
        const std::size_t few = most_looked_up(short_rows[i]);
        CHECK(most_looked_up(long_rows[i]) <= few);
        CHECK(few <= 2 * (detail::most_regionals + 2) + 4 * (detail::most_of_cluster + 1));
        for (const std::size_t n : {500U, 1'001U, 2'002U}) {
            CHECK(n - grapheme_prefix(long_rows[i], n).size() <= detail::most_moved_bytes);
            CHECK(n - grapheme_suffix(long_rows[i], n).size() <= detail::most_moved_bytes);
        }
    }
}

TEST_CASE("between two ASCII characters nothing is looked up", "[text]") {
    const std::string text = "plain text\nwith lines\r\nand é";
    for (std::size_t at = 1; at < text.size() - 2; ++at) {
        detail::Clusters clusters(text);
        const bool is_border = clusters.is_border(at);
        CHECK(is_border == (text[at] != '\n' || text[at - 1] != '\r'));
        CHECK(clusters.looked_up() == 0);
    }
}

TEST_CASE("lines are counted from the front with their line feeds, and from the end", "[text]") {
    CHECK(first_lines("a\nb\nc", 0).empty());
    CHECK(first_lines("a\nb\nc", 1) == "a\n");
    CHECK(first_lines("a\r\nb\r\nc", 2) == "a\r\nb\r\n");
    CHECK(first_lines("a\nb\nc", 3) == "a\nb\nc");
    CHECK(first_lines("a\nb\n", 9) == "a\nb\n");
    CHECK(first_lines("", 2).empty());
    CHECK(last_lines("a\nb\nc", 0).empty());
    CHECK(last_lines("a\nb\nc", 1) == "c");
    CHECK(last_lines("a\nb\nc\n", 1) == "c\n");
    CHECK(last_lines("a\nb\nc\n", 2) == "b\nc\n");
    CHECK(last_lines("a\nb\n\n", 1) == "\n");
    CHECK(last_lines("a\nb\nc", 9) == "a\nb\nc");
    CHECK(last_lines("\n", 1) == "\n");
    CHECK(last_lines("", 2).empty());
}
