#pragma once

#include "whittle/token_saving/config.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

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

}  // namespace whittle::inline v0::detail
