// small_v1.whittle is a packed vocabulary of format version 1: what `trained` makes of "abcabcabc the the", 8 merges.
#include "small_vocabulary.hpp"
#include "whittle_vocabulary_small_v1.hpp"

#include "support/catch.hpp"

using namespace whittle;

TEST_CASE("a program carries a vocabulary, and a table packed by an older version stays readable", "[tokens]") {
    const auto vocabulary = whittle_vocabulary::small_v1();
    CHECK(vocabulary == whittle_vocabulary::small_v1());
    CHECK(vocabulary->name() == "small");
    CHECK(vocabulary->size() == 264);
    const test::Ranks ranks = test::trained("abcabcabc the the", 8);
    for (const char* word : {"abcabcabc", "cab", " the", "xabcz", "tabc"}) {
        std::vector<TokenId> expected;
        for (const std::string& part : test::merge_all(ranks, word)) expected.push_back(ranks.at(part));
        CAPTURE(word);
        CHECK(vocabulary->encode(word) == expected);
    }
}
