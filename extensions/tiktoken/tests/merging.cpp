#include "small_vocabulary.hpp"

#include "support/catch.hpp"

using namespace whittle;
using namespace whittle::test;

TEST_CASE("a piece is merged as byte-pair encoding is defined, with any vocabulary", "[tokens]") {
    for (unsigned seed = 1; seed <= 3; ++seed) {
        std::mt19937 random(seed);
        const unsigned letters = 2 + seed % 3;
        const Ranks ranks = trained(random_word(random, 120, letters), 25);
        const auto tokens =
            Vocabulary::from_packed(pack_custom_vocabulary("small", "cl100k_base", to_tiktoken_file(ranks)));
        REQUIRE(tokens->size() > 270);
        for (int i = 0; i < 80; ++i) {
            const std::string word = random_word(random, 1 + random() % 40, letters);
            std::vector<TokenId> expected;
            for (const std::string& part : merge_all(ranks, word)) expected.push_back(ranks.at(part));
            CAPTURE(seed, word);
            CHECK(tokens->encode(word) == expected);
            CHECK(tokens->count(word) == static_cast<std::int64_t>(expected.size()));
        }
    }
}

TEST_CASE("a long piece of an unkind vocabulary is encoded in one pass", "[tokens]") {
    std::mt19937 random(9);
    const Ranks ranks = trained(random_word(random, 120, 2), 25);
    const auto tokens = Vocabulary::from_packed(pack_custom_vocabulary("small", "o200k_base", to_tiktoken_file(ranks)));
    const std::string word = random_word(random, 60'000, 2);
    CHECK(tokens->decode(tokens->encode(word)) == word);
}
