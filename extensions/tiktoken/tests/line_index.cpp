#include "small_vocabulary.hpp"
#include "vocabularies.hpp"

#include "whittle/tiktoken/vocabulary.hpp"

using namespace whittle;
using namespace whittle::test;

namespace {

std::string random_lines(std::mt19937& random) {
    std::string text;
    for (int i = 0; i < 30; ++i) text += random_text(random, random() % 5) + (random() % 4 == 0 ? "\n\n" : "\n");
    return text;
}

void check_cuts(const std::shared_ptr<const Vocabulary>& tokens, const std::string& text, std::size_t distance) {
    const TokenIndex index(tokens, text, distance);
    CHECK(index.line_boundaries().front().offset == 0);
    CHECK(index.line_boundaries().back().offset == text.size());
    for (const TokenIndex::LineBoundary& cut : index.line_boundaries()) {
        CAPTURE(tokens->name(), text, cut.offset);
        CHECK(tokens->count(text.substr(0, cut.offset)) == cut.tokens_before);
        CHECK(tokens->count(text.substr(cut.offset)) == index.tokens() - cut.tokens_before);
    }
}

}  // namespace

TEST_CASE("at every cut of an index the counts of both sides add up", "[tokens]") {
    std::mt19937 random(31);
    const std::string file = to_tiktoken_file(trained("the cat\n\nsat  \n on\r\nthe mat\n/\n", 24));
    for (const EncodingInfo& encoding : known_encodings()) {
        const auto small = Vocabulary::from_packed(pack_custom_vocabulary("small", encoding.name, file));
        for (int i = 0; i < 25; ++i) check_cuts(small, random_lines(random), i % 2 == 0 ? 0 : 40);
        if (const auto real = vocabulary(std::string(encoding.name)); real != nullptr)
            for (int i = 0; i < 25; ++i) check_cuts(real, random_lines(random), i % 2 == 0 ? 0 : 40);
    }
}

TEST_CASE("with no distance every line that starts with a word has its prefix count", "[tokens]") {
    const std::string file = to_tiktoken_file(single_bytes());
    const auto bytes = Vocabulary::from_packed(pack_custom_vocabulary("bytes", "o200k_base", file));
    const TokenIndex index(bytes, "one\ntwo\n\nthree\n  four\n/five\nsix", 0);
    std::vector<std::size_t> offsets;
    for (const TokenIndex::LineBoundary& cut : index.line_boundaries()) offsets.push_back(cut.offset);
    CHECK(offsets == std::vector<std::size_t>{0, 4, 9, 28, 31});
    CHECK(index.line_boundaries()[2].tokens_before == 9);
}
