#pragma once

#include "whittle/base/version.hpp"

#include <cstdint>

namespace whittle::inline v0 {

/// What token saving has done. Characters are Unicode code points.
struct TokenSavingStats {
    std::int64_t compressions = 0;  ///< tool results cut to head and tail
    std::int64_t chars_saved = 0;   ///< by that, markers subtracted
    std::int64_t early_exits = 0;   ///< nudges
    std::int64_t perplexity_compressions = 0;
    std::int64_t perplexity_chars_saved = 0;
    std::int64_t perplexity_cache_hits = 0;  ///< windows of words, and texts that must stay, decided before
    std::int64_t replacements_emitted = 0;   ///< messages replaced before the newest model call

    friend bool operator==(const TokenSavingStats&, const TokenSavingStats&) = default;
};

}  // namespace whittle::inline v0
