#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/chain/hook_turn.hpp"
#include "whittle/summary/detail/outcome.hpp"

#include <cstddef>
#include <cstdint>

namespace whittle::inline v0::detail {

/// A digest over several hooks: what came of this one.
struct NotedDigest {
    DigestOutcome result{};
    DigestState state{};         ///< what the next hook goes on with
    bool is_unfinished = false;  ///< the failure is only that the hook's calls or time are used up
};

/// What the next request has to come to after an overflow, by a counter of the middleware's own that makes it `tokens`.
[[nodiscard]] std::int64_t trigger_after_overflow(const HookTurn& turn, std::int64_t tokens) noexcept;

/// Calls `generate(state)` with the state that an earlier hook left in the note "digest", and leaves the new one there.
/// A hook whose own calls all failed has made no progress: that is a failure; one that could make none is not.
[[nodiscard]] NotedDigest go_on_with_digest(Notes notes, FunctionRef<DigestOutcome(DigestState&)> generate);

/// The failure of a summary whose commit failed: it makes nothing smaller, or no store took its originals.
[[nodiscard]] DigestError commit_failure(const CommitResult& commit);

/// Says how far a digest of `messages` messages is that the next hook goes on with. No failure, also where failures are
/// thrown: a throw would take back the notes that the next hook goes on with.
void report_unfinished(HookTurn& turn, const DigestState& state, std::size_t messages);

/// Tells of a summary that failed, and throws what it failed with or notes that the next attempt waits until the
/// request has `retry_at_tokens`. What is thrown came from elsewhere and may not say what it ended; the event does.
void report_failure(HookTurn& turn, const DigestError& failure, bool is_thrown, std::int64_t retry_at_tokens);

}  // namespace whittle::inline v0::detail
