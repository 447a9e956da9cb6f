#pragma once

#include "whittle/base/version.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

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

namespace detail {

/// The stats of a middleware and of its conversations; of these the 1,024 it has seen most recently. Thread-safe.
class StatsBoard {
public:
    /// Adds counts; `replacements_emitted` takes the place of the one before.
    void add(std::string_view conversation, const TokenSavingStats& more, bool is_model_call);
    [[nodiscard]] TokenSavingStats all() const;
    [[nodiscard]] TokenSavingStats of(std::string_view conversation) const;

private:
    struct Entry {
        TokenSavingStats stats{};
        std::uint64_t used = 0;
    };
    mutable std::mutex mutex_{};
    TokenSavingStats all_{};
    std::map<std::string, Entry, std::less<>> by_conversation_{};
    std::uint64_t clock_ = 0;
};

}  // namespace detail

}  // namespace whittle::inline v0
