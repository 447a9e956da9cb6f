#pragma once

#include "whittle/chain/hook_turn.hpp"

#include <cstdint>
#include <string_view>

namespace whittle::inline v0::detail {

/// What the notes of a middleware hold of attempts that failed or gained too little, so that the next hooks repeat
/// neither the work nor the warning. Part of the conversation: saved with it, and taken back with a hook that throws.
class Cooldown {
public:
    /// `remembers_dry_runs`: notes are written in dry runs, too.
    explicit Cooldown(HookTurn& turn, bool remembers_dry_runs = false) noexcept
        : turn_(turn), is_silent_(turn.config.dry_run && !remembers_dry_runs) {}

    /// Whether a request of so many tokens is too small for the next attempt.
    [[nodiscard]] bool is_active(std::int64_t tokens) const;
    /// The next attempt waits until the request has that many tokens.
    void wait_for(std::int64_t tokens);
    void end();

    /// Whether an obstacle has not been reported since it was last cleared; from now on it has.
    [[nodiscard]] bool is_news(std::string_view obstacle);
    void clear(std::string_view obstacle);

private:
    HookTurn& turn_;
    bool is_silent_;
};

}  // namespace whittle::inline v0::detail
