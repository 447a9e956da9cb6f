#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/summary/detail/summary_work.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace whittle::inline v0 {

/// What a fold has to leave, and what it should come to. Tokens are those of messages alone.
struct FoldLimits {
    std::int64_t keep_recent_tokens = 0;
    std::int64_t keep_recent_messages = 0;
    std::int64_t limit_tokens = INT64_MAX;  ///< the messages should come to less
    std::int64_t limit_messages = 0;        ///< 0: no limit
    bool keep_loop_head = false;            ///< the rules want thinking in front of the open tool loop
    int summaries_per_level = 0;            ///< 0: summaries that are there are folded again
    /// What the summary is expected to take with all that goes with it; the tail takes what it leaves, a quarter of the
    /// room at least. 0: nobody knows, the tail takes at most half.
    std::int64_t expected_tokens = 0;
};

/// What a fold of the older part stands for, and where the summary goes.
struct FoldPlan : FoldedMessages {
    std::int64_t kept_tokens = 0;   ///< of what has to stay whatever is folded
    std::int64_t tail_tokens = 0;   ///< of the recent tail behind it
    std::size_t kept_messages = 0;  ///< that have to stay
    int level = 0;                  ///< of the summary
};

/// What the messages should come below, counted.
[[nodiscard]] std::int64_t limit_of_messages(const FoldSizes& sizes) noexcept;
/// The same sizes with what the host asked for as the trigger: no fold goes further.
[[nodiscard]] FoldSizes wanted_sizes(FoldSizes sizes) noexcept;
/// What no fold can bring a request below, with `reserve` for the model's reply. Overhead that nobody can name is none
/// of it.
[[nodiscard]] std::int64_t minimum_of(const FoldSizes& sizes, const FoldPlan& plan, std::int64_t reserve) noexcept;
/// Whether it is only overhead that leaves no room for what has to stay.
[[nodiscard]] bool is_overhead_in_the_way(const FoldSizes& sizes, const FoldPlan& plan, std::int64_t reserve) noexcept;
/// What a summary may have with all that goes with it: seven eighths of what the plan leaves and of what it replaces,
/// so that the next one is not due at once.
[[nodiscard]] std::int64_t room_for_summary(const FoldSizes& sizes, const FoldPlan& plan) noexcept;

/// Plans a fold: system messages, pins, the newest user message, the open round and, where wanted, the head of the open
/// tool loop (`Outline::required_first_step`) stay, each with its whole tool round; so does the recent tail. The tail
/// holds the newest messages up to `keep_recent_tokens`, at least `keep_recent_messages` of them, cut only where no
/// round is torn; it takes at most half of what the limits leave beside the messages that have to stay, so that a
/// summary always gains something. With `summaries_per_level` summaries stay too, and what stands in front of them, but
/// for those at the end that make up a level with the new one; unless what stays so takes more than a third of the
/// limit. `tokens`: of each message. Linear.
[[nodiscard]] FoldPlan plan_fold(const Outline& outline, std::span<const std::int64_t> tokens, const FoldLimits& limits,
                                 FunctionRef<bool(std::size_t)> is_pinned);

}  // namespace whittle::inline v0
