#include "small_vocabulary.hpp"
#include "vocabularies.hpp"

using namespace whittle;
using namespace whittle::test;

namespace {

void check_bound(const Vocabulary& tokens, std::string_view text) {
    const std::int64_t bound = tokens_upper_bound(tokens, text);
    CAPTURE(tokens.name(), std::string(text));
    CHECK(tokens.count(text) <= bound);
    CHECK(bound <= tokens_upper_bound(text));
}

/// Short texts of the characters at which splits differ: contractions, runs of blanks, slashes, changes of case.
std::string tricky_text(std::mt19937& random) {
    constexpr std::string_view characters = "''''sStTrelvmabzQR    \n\r\t//!?.\"(1 2";
    std::string text;
    for (std::size_t size = 1 + random() % 14; text.size() < size;) text += characters[random() % characters.size()];
    return text;
}

}  // namespace

TEST_CASE("no text has more tokens than the bound of its vocabulary", "[tokens]") {
    std::mt19937 random(23);
    for (const std::string& name : encoding_names) {
        const auto tokens = vocabulary(name);
        if (tokens == nullptr) SKIP_WITH_MESSAGE("no vocabularies");
        for (int i = 0; i < 2'000; ++i) {
            check_bound(*tokens, random_text(random, 1 + random() % 40));
            check_bound(*tokens, random_bytes(random, random() % 40));
            check_bound(*tokens, tricky_text(random));
        }
    }
}

TEST_CASE("the bound holds for vocabularies with hardly a merge", "[tokens]") {
    std::mt19937 random(29);
    const std::string file = to_tiktoken_file(trained("ab st 's  ll re  !! // aB Ba  't RE''    '''s", 24));
    for (const EncodingInfo& encoding : known_encodings()) {
        const auto tokens = Vocabulary::from_packed(pack_custom_vocabulary("small", encoding.name, file));
        for (int i = 0; i < 6'000; ++i) check_bound(*tokens, tricky_text(random));
    }
}

TEST_CASE("the bound of a vocabulary is well below the bytes of common text", "[tokens]") {
    REQUIRE_VOCABULARY(tokens, "o200k_base");
    const auto percent = [&](std::string_view text) {
        return 100 * tokens_upper_bound(*tokens, text) / static_cast<std::int64_t>(text.size());
    };
    CHECK(percent("the quick brown fox jumps over the lazy dog again and again") <= 70);
    CHECK(percent("{\"name\":\"example\",\"tags\":[\"a\",\"b\"],\"nested\":{}}") <= 75);
    CHECK(percent(std::string(300, ' ')) <= 68);
    CHECK(percent("Агент на каждом шаге") <= 76);
    CHECK(percent("123456789") == 100);
    CHECK(tokens_upper_bound(*tokens, "") == 0);
    CHECK(tokens_upper_bound(*tokens, "\xff") <= 3);
}
