// Exact counts, head and tail by tokens, and a text that comes in chunks. The vocabulary is made here: 256 single bytes
// and three tokens more. Yours is installed by `whittle vocab install o200k_base`.
#include <whittle/tiktoken/vocabulary.hpp>
#include <whittle/whittle.hpp>

#include <iostream>
#include <memory>
#include <string>
#include <string_view>

using namespace whittle;

namespace {

/// As a publisher's `.tiktoken` file: each token in base64, with its rank.
std::string small_vocabulary() {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string file;
    for (unsigned byte = 0; byte < 256; ++byte)
        file += std::string{digits[byte >> 2], digits[(byte & 3) << 4]} + "== " + std::to_string(byte) + '\n';
    return pack_custom_vocabulary("small", "o200k_base", file + "dGg= 256\ndGhl 257\nIHRoZQ== 258\n");  // th the _the
}

}  // namespace

int main() {
    const std::shared_ptr<const Vocabulary> vocabulary = Vocabulary::from_packed(small_vocabulary());
    // [count]
    // After `whittle vocab install o200k_base --to vocabularies`:
    // const auto vocabulary = Vocabulary::open("vocabularies/o200k_base.whittle");
    const ChainConfig config{.token_counter = exact_counter(vocabulary)};
    std::cout << config.token_counter->count("the bees and the queen") << " tokens by " << vocabulary->name() << '\n';

    const TokenIndex index(vocabulary, "the bees and the queen");
    std::cout << index.head(4) << "[...]" << index.tail(4) << '\n';

    TokenStream stream(vocabulary);
    for (const char* chunk : {"the bees and t", "he queen"}) stream.append(chunk);
    std::cout << stream.tokens() << " tokens of a stream\n";
    // [/count]
}
