// A vocabulary trained on the spot, and byte-pair encoding written down as simply as it can be said.
#pragma once

#include "whittle/tiktoken/vocabulary.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::test {

/// Token ids by the tokens' bytes.
using Ranks = std::map<std::string, TokenId, std::less<>>;

inline Ranks single_bytes() {
    Ranks ranks;
    for (unsigned c = 0; c < 256; ++c) ranks.emplace(std::string(1, static_cast<char>(c)), c);
    return ranks;
}

/// The pair of neighbours that merges first, or the end.
inline std::size_t first_merge(const Ranks& ranks, const std::vector<std::string>& parts) {
    std::size_t best = parts.size();
    TokenId best_rank = ~TokenId{0};
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
        const auto found = ranks.find(parts[i] + parts[i + 1]);
        if (found == ranks.end() || found->second >= best_rank) continue;
        best = i;
        best_rank = found->second;
    }
    return best;
}

inline std::vector<std::string> merge_all(const Ranks& ranks, std::string_view piece) {
    std::vector<std::string> parts;
    for (const char c : piece) parts.emplace_back(1, c);
    for (std::size_t i = first_merge(ranks, parts); i < parts.size(); i = first_merge(ranks, parts)) {
        parts[i] += parts[i + 1];
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
    return parts;
}

/// Adds `merges` tokens: each time the most frequent pair in the encoding of `corpus`.
inline Ranks trained(std::string_view corpus, std::size_t merges) {
    Ranks ranks = single_bytes();
    for (std::size_t i = 0; i < merges; ++i) {
        const std::vector<std::string> parts = merge_all(ranks, corpus);
        std::map<std::string, int> pairs;
        for (std::size_t k = 0; k + 1 < parts.size(); ++k) ++pairs[parts[k] + parts[k + 1]];
        if (pairs.empty()) break;
        const auto best = std::ranges::max_element(pairs, {}, [](const auto& pair) { return pair.second; });
        ranks.emplace(best->first, static_cast<TokenId>(ranks.size()));
    }
    return ranks;
}

inline std::string base64(std::string_view bytes) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::string_view group = bytes.substr(at, 3);
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 3; ++i)
            bits = bits << 8 | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0U);
        for (std::size_t i = 0; i < 4; ++i) text += i <= group.size() ? digits[bits >> (18 - 6 * i) & 63] : '=';
    }
    return text;
}

inline std::string to_tiktoken_file(const Ranks& ranks) {
    std::string file;
    for (const auto& [bytes, rank] : ranks) file += base64(bytes) + " " + std::to_string(rank) + "\n";
    return file;
}

/// Small letters without a break: one piece in every pattern.
template <typename Random>
std::string random_word(Random& random, std::size_t size, unsigned letters = 3) {
    std::string word;
    for (std::size_t i = 0; i < size; ++i) word += static_cast<char>('a' + random() % letters);
    return word;
}

}  // namespace whittle::test
