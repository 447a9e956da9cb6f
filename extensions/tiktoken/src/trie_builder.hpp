#pragma once

#include "bpe_tables.hpp"

#include <string_view>
#include <vector>

namespace whittle::inline v0::bpe {

struct SortedToken {
    std::string_view bytes{};
    std::uint32_t id = no_token;
};

/// A double array of `tokens`, which are in order of their bytes, distinct and not empty. Throws Error(limit_exceeded)
/// if it does not fit.
[[nodiscard]] std::vector<TrieCell> build_trie(const std::vector<SortedToken>& tokens);

}  // namespace whittle::inline v0::bpe
