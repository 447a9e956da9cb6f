#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/base/detail/saturating.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/summary/detail/fold.hpp"
#include "whittle/tokens/detail/usage_fit.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

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

/// Which messages a summary will stand for, and why the others stay.
struct FoldPlan {
    std::vector<std::size_t> folded{};      ///< indices, ascending
    std::vector<std::string_view> rules{};  ///< for each message: "fold", or the id of the rule that keeps it
    std::int64_t folded_tokens = 0;
    std::int64_t kept_tokens = 0;    ///< of what has to stay whatever is folded
    std::int64_t tail_tokens = 0;    ///< of the recent tail behind it
    std::size_t kept_messages = 0;   ///< that have to stay
    bool has_only_summaries = true;  ///< nothing new is among the folded messages
    std::size_t place = 0;           ///< where the summary goes: the first index of the last folded stretch
    int level = 0;                   ///< of the summary
};

/// The sizes that a fold is judged by. Triggers judge requests in the provider's tokens, plans count messages in ours:
/// `scale` is between the two.
struct FoldSizes {
    std::int64_t context_tokens = 0;    ///< of the whole request, as triggers judge it
    std::int64_t message_tokens = 0;    ///< of the messages, counted
    std::int64_t system_and_tools = 0;  ///< of system text and tools, counted
    std::int64_t trigger_tokens = 0;    ///< what the request should come below; 0: no such limit
    std::int64_t wanted_tokens = 0;     ///< by the host, where that is less than the trigger; 0: as the trigger
    std::int64_t limit_messages = 0;    ///< 0: no limit
    TokenScale scale{};

    /// The same with what the host asked for as the trigger: no fold goes further.
    [[nodiscard]] FoldSizes wanted() const noexcept;
    /// What system text and tools take of a request.
    [[nodiscard]] std::int64_t request_without_messages() const noexcept { return scale.to_request(system_and_tools); }
    /// What the messages should come below, counted.
    [[nodiscard]] std::int64_t limit_of_messages() const noexcept;
    /// The irreducible floor of a request: what no fold can go below, with `reserve` for the model's reply. Overhead
    /// that nobody can name is none of it.
    [[nodiscard]] std::int64_t floor_of(const FoldPlan& plan, std::int64_t reserve) const noexcept;
    /// Whether it is only overhead that leaves no room for what has to stay.
    [[nodiscard]] bool is_overhead_in_the_way(const FoldPlan& plan, std::int64_t reserve) const noexcept;
    /// Of the request, after messages of that count are gone.
    [[nodiscard]] std::int64_t context_without(std::int64_t counted) const noexcept {
        return sub_saturating(context_tokens, scale.to_request(counted));
    }
    /// What a summary may have with all that goes with it: seven eighths of what the plan leaves and of what it
    /// replaces, so that the next one is not due at once.
    [[nodiscard]] std::int64_t room_for_summary(const FoldPlan& plan) const noexcept;
};

/// Plans a fold: system messages, pins, the newest user message, the open round and, where wanted, the head of the open
/// tool loop (`Outline::loop_head`) stay, each with its whole tool round; so does the recent tail. The tail holds the
/// newest messages up to `keep_recent_tokens`, at least `keep_recent_messages` of them, cut only where no round is
/// torn; it takes at most half of what the limits leave beside the messages that have to stay, so that a summary always
/// gains something. With `summaries_per_level` summaries stay too, and what stands in front of them, but for those at
/// the end that make up a level with the new one; unless what stays so takes more than a third of the limit. `tokens`:
/// of each message. Linear.
[[nodiscard]] FoldPlan plan_fold(const Outline& outline, std::span<const std::int64_t> tokens, const FoldLimits& limits,
                                 FunctionRef<bool(std::size_t)> is_pinned);

}  // namespace whittle::inline v0
