// A counter, head and tail, and chunks.
#include "small_vocabulary.hpp"

#include "support/catch.hpp"
#include "support/temp_dir.hpp"

#include <whittle/tiktoken/vocabulary.hpp>

#include <fstream>

namespace {

using namespace whittle;

/// What the chain counts with: ChainConfig::token_counter.
std::shared_ptr<const TokenCounter> counter_of(const std::string& folder) {
    return exact_counter(Vocabulary::open(vocabulary_path(folder, "o200k_base")));
}

std::string head_and_tail(const std::shared_ptr<const Vocabulary>& vocabulary, std::string_view text) {
    const TokenIndex index(vocabulary, text);
    if (index.tokens() <= 500) return std::string(text);
    return std::string(index.head(400)) + "\n[...]\n" + std::string(index.tail(100));
}

std::int64_t count_chunks(const std::shared_ptr<const Vocabulary>& vocabulary, std::span<const std::string> chunks) {
    TokenStream stream(vocabulary);
    for (const std::string& chunk : chunks) stream.append(chunk);
    return stream.tokens();
}

}  // namespace

TEST_CASE("the example of the docs counts, cuts and streams", "[tokens]") {
    const testing::TempDir dir;
    const std::string packed =
        pack_custom_vocabulary("small", "o200k_base", test::to_tiktoken_file(test::trained("abababab", 3)));
    std::ofstream(vocabulary_path(dir.path().string(), "o200k_base"), std::ios::binary) << packed;
    CHECK(counter_of(dir.path().string())->count("abababab ab") == 3);
    const auto vocabulary = Vocabulary::from_packed(packed);
    CHECK(head_and_tail(vocabulary, std::string(600, 'x')) ==
          std::string(400, 'x') + "\n[...]\n" + std::string(100, 'x'));
    CHECK(head_and_tail(vocabulary, "ab") == "ab");
    CHECK(count_chunks(vocabulary, std::vector<std::string>{"aba", "bab", "ab"}) == 1);
}
