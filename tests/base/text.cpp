#include "whittle/base/text.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <random>
#include <string>
#include <vector>

using namespace whittle;

TEST_CASE("a prefix never ends inside a character", "[text]") {
    CHECK(grapheme_prefix("hello world", 5) == "hello");
    CHECK(grapheme_prefix("hello", 0).empty());
    CHECK(grapheme_prefix("hello", 5) == "hello");
    CHECK(grapheme_prefix("hello", SIZE_MAX) == "hello");
    CHECK(grapheme_prefix("", 3).empty());
    CHECK(grapheme_prefix("你好世界", 2).empty());
    CHECK(grapheme_prefix("你好世界", 3) == "你");
    CHECK(grapheme_prefix("你好世界", 4) == "你");
    CHECK(grapheme_prefix("hello你好world", 8) == "hello你");
    CHECK(grapheme_prefix("hello你好world", 9) == "hello你");
    CHECK(grapheme_prefix("hello你好world", 11) == "hello你好");
    CHECK(grapheme_prefix("a😀b", 4) == "a");
    CHECK(grapheme_prefix("a😀b", 5) == "a😀");
}

TEST_CASE("a suffix never starts inside a character", "[text]") {
    CHECK(grapheme_suffix("hello world", 5) == "world");
    CHECK(grapheme_suffix("hello", 0).empty());
    CHECK(grapheme_suffix("hello", SIZE_MAX) == "hello");
    CHECK(grapheme_suffix("你好世界", 2).empty());
    CHECK(grapheme_suffix("你好世界", 3) == "界");
    CHECK(grapheme_suffix("你好世界", 4) == "界");
    CHECK(grapheme_suffix("你好世界", 6) == "世界");
    CHECK(grapheme_suffix("hello你好world", 8) == "好world");
    CHECK(grapheme_suffix("hello你好world", 9) == "好world");
    CHECK(grapheme_suffix("hello你好world", 11) == "你好world");
    CHECK(grapheme_suffix("a😀b", 4) == "b");
    CHECK(grapheme_suffix("a😀b", 5) == "😀b");
}

TEST_CASE("bytes that are not UTF-8 are cut as characters of one byte", "[text]") {
    CHECK(grapheme_prefix("\x80\x80\x80\x80", 3) == "\x80\x80\x80");
    CHECK(grapheme_suffix("\x80\x80\x80\x80", 1) == "\x80");
    CHECK(grapheme_prefix("\xF0\x9F\x98 tail", 2).empty());        // a sequence that is never finished: one U+FFFD
    CHECK(grapheme_prefix("\xC0\x80x", 1) == "\xC0");              // overlong
    CHECK(grapheme_prefix("\xED\xA0\x80x", 2) == "\xED\xA0");      // a surrogate
    CHECK(grapheme_suffix("x\xF4\x90\x80\x80", 2) == "\x80\x80");  // above U+10FFFF
}

TEST_CASE("prefix and suffix of every length put valid text together again", "[text]") {
    const std::string text = "aé你😀\nz😀你é";
    for (std::size_t n = 0; n <= text.size(); ++n) {
        const std::string_view head = grapheme_prefix(text, n);
        const std::string_view tail = grapheme_suffix(text, n);
        CHECK(head.size() <= n);
        CHECK(tail.size() <= n);
        CHECK(n - head.size() <= 3);
        CHECK(n - tail.size() <= 3);
        CHECK(is_valid_utf8(head));
        CHECK(is_valid_utf8(tail));
        CHECK(is_valid_utf8(std::string_view(text).substr(head.size())));
    }
}

TEST_CASE("well-formed UTF-8 is what Unicode's table 3-7 allows", "[text]") {
    const std::vector<std::string> valid{"",
                                         "ascii",
                                         "\x7F",
                                         "\xC2\x80",
                                         "\xDF\xBF",
                                         "\xE0\xA0\x80",
                                         "\xED\x9F\xBF",
                                         "\xEE\x80\x80",
                                         "\xEF\xBF\xBF",
                                         "\xF0\x90\x80\x80",
                                         "\xF4\x8F\xBF\xBF",
                                         std::string("a\0b", 3)};
    for (const std::string& text : valid) CHECK(is_valid_utf8(text));

    const std::vector<std::string> invalid{"\x80",
                                           "\xBF",
                                           "\xC0\x80",
                                           "\xC1\xBF",
                                           "\xC2",
                                           "\xC2 ",
                                           "\xE0\x9F\xBF",
                                           "\xE0\xA0",
                                           "\xED\xA0\x80",
                                           "\xED\xBF\xBF",
                                           "\xF0\x8F\xBF\xBF",
                                           "\xF0\x90\x80",
                                           "\xF4\x90\x80\x80",
                                           "\xF5\x80\x80\x80",
                                           "\xFF",
                                           "\xFE"};
    for (const std::string& text : invalid) CHECK_FALSE(is_valid_utf8(text));
}

TEST_CASE("a bad byte is found at every offset of a long text", "[text]") {
    for (std::size_t at = 0; at < 40; ++at) {
        std::string text(40, 'a');
        text[at] = '\xFF';
        CHECK_FALSE(is_valid_utf8(text));
        text[at] = 'b';
        CHECK(is_valid_utf8(text));
    }
}

TEST_CASE("each maximal ill-formed subsequence becomes one U+FFFD", "[text]") {
    CHECK(to_valid_utf8("plain 你") == "plain 你");
    CHECK(to_valid_utf8("a\xFFz") == "a\xEF\xBF\xBDz");
    // Unicode 15, table 3-8: 61 F1 80 80 E1 80 C2 62 80 63 80 BF 64
    CHECK(to_valid_utf8("a\xF1\x80\x80\xE1\x80\xC2"
                        "b\x80"
                        "c\x80\xBF"
                        "d") == "a���b�c��d");
    // Table 3-9: surrogates and overlong forms, one for each byte
    CHECK(to_valid_utf8("\xED\xA0\x80") == "���");
    CHECK(to_valid_utf8("\xC0\xAF\xE0\x80\xBF") == "�����");
    CHECK(to_valid_utf8("\xF0\x9F\x98") == "�");
}

TEST_CASE("random bytes become valid UTF-8, and valid text stays as it is", "[text]") {
    std::mt19937 random(7);
    for (int round = 0; round < 2000; ++round) {
        std::string bytes(random() % 24, '\0');
        for (char& c : bytes) c = static_cast<char>(random() % 3 == 0 ? random() % 128 : 128 + random() % 128);
        const std::string repaired = to_valid_utf8(bytes);
        CHECK(is_valid_utf8(repaired));
        CHECK((repaired == bytes) == is_valid_utf8(bytes));
        CHECK(to_valid_utf8(repaired) == repaired);
    }
}

TEST_CASE("blank is empty or white space only", "[text]") {
    CHECK(is_blank(""));
    CHECK(is_blank(" \t\r\n\f\v"));
    CHECK_FALSE(is_blank(" x "));
    CHECK_FALSE(is_blank("\xC2\xA0"));  // a no-break space is not ASCII
    CHECK_FALSE(is_blank(std::string_view("\0", 1)));
}

TEST_CASE("a last line counts without its line feed", "[text]") {
    CHECK(count_lines("") == 0);
    CHECK(count_lines("one") == 1);
    CHECK(count_lines("one\n") == 1);
    CHECK(count_lines("one\ntwo") == 2);
    CHECK(count_lines("\n\n") == 2);
    // Line feeds at every place of a word of 8 bytes, among bytes that differ from one in a single bit.
    const std::string bytes("\n\x0B\x8A\x0A\x00\xFF\n\n\x09\x1A\n\x01\n\x7F\n\n\n", 17);
    for (std::size_t from = 0; from <= bytes.size(); ++from) {
        const std::string text = bytes.substr(from);
        const auto feeds = std::count(text.begin(), text.end(), '\n');
        CHECK(count_lines(text) == feeds + (text.empty() || text.ends_with('\n') ? 0 : 1));
    }
    for (const std::size_t size : {16u, 4'079u, 4'080u, 4'081u, 4'096u, 8'161u})  // around 255 times 16
        CHECK(count_lines(std::string(size, '\n')) == static_cast<std::int64_t>(size));
}

TEST_CASE("lower case changes ASCII letters only", "[text]") { CHECK(ascii_lower("AZaz09É[@") == "azaz09É[@"); }

TEST_CASE("edit distance counts insertions, deletions and replacements", "[text]") {
    CHECK(edit_distance("", "") == 0);
    CHECK(edit_distance("", "abc") == 3);
    CHECK(edit_distance("abc", "") == 3);
    CHECK(edit_distance("kitten", "sitting") == 3);
    CHECK(edit_distance("same", "same") == 0);
}

TEST_CASE("the closest match is found within a third of the word", "[text]") {
    const std::array<std::string, 3> names{"read_file", "write_file", "list"};
    CHECK(closest_match("read_fiel", names) == "read_file");
    CHECK(closest_match("lst", names) == "list");
    CHECK(closest_match("grep", names).empty());
}

TEST_CASE("only one whole JSON object is a JSON object", "[text]") {
    for (const char* text : {"{}", " \n{\"a\": [1, {\"b\": null}]}\t", "{\"a\":1,\"a\":2}"})
        CHECK(is_json_object(text));
    for (const char* text : {"", " ", "[]", "null", "\"{}\"", "{", "}", "{}{}", "{} x", "{'a':1}", "{\"a\":1,}",
                             "{\"a\":01}", "// c\n{}", "{/**/}", "{\"a\":\"\xFF\"}", "\xEF\xBB\xBF{}"}) {
        CAPTURE(text);
        CHECK_FALSE(is_json_object(text));
    }
    CHECK_FALSE(is_json_object(std::string_view("{}\0trailing", 11)));
    CHECK_FALSE(is_json_object(std::string_view("{\0}", 3)));
}

TEST_CASE("a deep JSON text needs no deep stack", "[text]") {
    const std::size_t depth = 1'000'000;
    CHECK_FALSE(is_json_object("{\"a\":" + std::string(depth, '[')));
    CHECK(is_json_object("{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}"));
}

TEST_CASE("a saturated sum stays at the end of the range", "[text]") {
    CHECK(add_saturating(2, 3) == 5);
    CHECK(add_saturating(INT64_MAX, 1) == INT64_MAX);
    CHECK(add_saturating(INT64_MIN, -1) == INT64_MIN);
    CHECK(add_saturating(INT64_MAX, INT64_MIN) == -1);
}
