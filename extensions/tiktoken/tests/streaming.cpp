#include "vocabularies.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"
#include "whittle/tiktoken/vocabulary.hpp"

using namespace whittle;
using namespace whittle::test;

namespace {

/// Six scripts, code, blanks, a long word and broken bytes.
std::string mixed_text() {
    std::string text;
    for (int i = 0; i < 6; ++i) {
        text +=
            "The agent's history isn't short; HTTPResponse, camelCaseName and 1234567 tokens.\n\n  \n\tif (x)  {\r\n";
        text +=
            "代理每一步都会重新发送全部历史消息。エージェントは履歴を送り直します。에이전트는 전체 기록을 다시 "
            "보냅니다.\n";
        text +=
            "Агент заново отправляет всю историю. يعيد الوكيل إرسال سجل الرسائل. "
            "😀👨‍👩‍👧 "
            "e\u0301\n/\n//x\n";
        text += std::string(static_cast<std::size_t>(i) * 90, 'a') + std::string(static_cast<std::size_t>(i) * 7, ' ');
        text += "broken \xE4\xB8 and \xF0\x9F\x98 and \x80\xFF\n";
    }
    return text;
}

template <typename Random>
void append_in_chunks(TokenStream& stream, std::string_view text, Random& random) {
    const std::size_t longest = std::size_t{1} << below(random, 12);
    while (!text.empty()) {
        const std::size_t size = std::min(text.size(), 1 + below(random, longest));
        stream.append(text.substr(0, size));
        text.remove_prefix(size);
    }
}

bool is_character_boundary(std::string_view text, std::size_t at) { return grapheme_prefix(text, at).size() == at; }

std::string_view character_behind(std::string_view text, std::size_t at) {
    std::size_t end = at + 1;
    while (!is_character_boundary(text, end)) ++end;
    return text.substr(at, end - at);
}

std::string_view character_before(std::string_view text, std::size_t at) {
    std::size_t begin = at - 1;
    while (!is_character_boundary(text, begin)) --begin;
    return text.substr(begin, at - begin);
}

}  // namespace

TEST_CASE("a stream counts what the whole text counts, however it is cut", "[tokens]") {
    const std::string text = mixed_text();
    for (const std::string& name : encoding_names) {
        const auto tokens = vocabulary(name);
        if (tokens == nullptr) SKIP_WITH_MESSAGE("no vocabularies");
        const std::int64_t count = tokens->count(text);
        std::mt19937 random(5);
        for (int i = 0; i < 50; ++i) {
            TokenStream stream(tokens);
            append_in_chunks(stream, text, random);
            CAPTURE(name, i);
            CHECK(stream.tokens() == count);
        }
    }
}

TEST_CASE("a stream is exact after every chunk", "[tokens]") {
    REQUIRE_VOCABULARY(tokens, "o200k_base");
    const std::string text = mixed_text().substr(0, 900);
    TokenStream stream(tokens);
    for (std::size_t i = 0; i < text.size(); ++i) {
        stream.append(std::string_view(text).substr(i, 1));
        CAPTURE(i);
        CHECK(stream.tokens() == tokens->count(std::string_view(text).substr(0, i + 1)));
    }
}

TEST_CASE("a stream keeps little of a text that has ends of words", "[tokens]") {
    REQUIRE_VOCABULARY(tokens, "cl100k_base");
    TokenStream stream(tokens);
    for (int i = 0; i < 2'000; ++i) stream.append("one more line of text without a line feed, ");
    CHECK(stream.buffered_bytes() < 8'192);
    CHECK_THROWS_AS(TokenStream(nullptr), Error);
}

TEST_CASE("head and tail fit the limit, and one more token does not", "[tokens]") {
    std::mt19937 random(17);
    for (const std::string& name : encoding_names) {
        const auto tokens = vocabulary(name);
        if (tokens == nullptr) SKIP_WITH_MESSAGE("no vocabularies");
        std::string text = mixed_text();
        for (int i = 0; i < 12; ++i) text += random_text(random, 100) + "\n";
        const TokenIndex index(tokens, text);
        REQUIRE(index.tokens() == tokens->count(text));
        for (std::int64_t limit = 0; limit < index.tokens(); limit += 1 + index.tokens() / 53) {
            const std::string_view head = index.head(limit);
            const std::string_view tail = index.tail(limit);
            CAPTURE(name, limit, head.size(), tail.size());
            CHECK(text.starts_with(head));
            CHECK(text.ends_with(tail));
            CHECK(tokens->count(head) <= limit);
            CHECK(tokens->count(tail) <= limit);
            CHECK(is_character_boundary(text, head.size()));
            CHECK(is_character_boundary(text, text.size() - tail.size()));
            // A character may have several tokens, and a cut inside a piece may cost one.
            const std::int64_t next = tokens->count(character_behind(text, head.size()));
            const std::int64_t previous = tokens->count(character_before(text, text.size() - tail.size()));
            CHECK(tokens->count(head) >= limit - 3 - next);
            CHECK(tokens->count(tail) >= limit - 3 - previous);
        }
        CHECK(index.head(index.tokens()) == text);
        CHECK(index.tail(index.tokens()) == text);
        CHECK(index.head(-1).empty());
        CHECK(index.tail(-1).empty());
    }
}

TEST_CASE("the index of an empty text and of a text without lines works", "[tokens]") {
    REQUIRE_VOCABULARY(tokens, "o200k_base");
    CHECK(TokenIndex(tokens, "").tokens() == 0);
    CHECK(TokenIndex(tokens, "").head(3).empty());
    const std::string text(3'000, 'a');
    CHECK(TokenIndex(tokens, text).head(2) == std::string(16, 'a'));
    CHECK(TokenIndex(tokens, text).tail(2) == std::string(16, 'a'));
}
