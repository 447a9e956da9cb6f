#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/summary/detail/summary_work.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace whittle::inline v0 {

/// How a history falls into a protected prefix, older turns, and what stays of the current one. Indices of messages.
struct TurnLayout {
    std::size_t prefix = 0;     ///< one past the leading system messages that are no summaries of ours
    std::size_t current = 0;    ///< where the current turn starts
    std::size_t kept_from = 0;  ///< from here on nothing is touched; `current`, or later with `keep_rounds`
};

/// The current turn is the latest turn number with all that is behind it; without any number it starts at the newest
/// user message. No border tears a tool round. `self`: whose summaries are ours. `keep_rounds`: newest tool rounds of
/// the current turn that stay; absent: all of it. Linear.
[[nodiscard]] TurnLayout layout_of(const Outline& outline, std::string_view self,
                                   std::optional<int> keep_rounds = std::nullopt);

/// What a plan has to come to. Tokens as messages are counted; `scale`: how a request's tokens compare.
struct TurnBudget {
    std::int64_t system_and_tools = 0;
    std::int64_t threshold = 0;  ///< the request should have at most this
    std::int64_t target = 0;     ///< and this, but for the current turn
    std::int64_t summary = 0;    ///< the summary may have this
    std::int64_t frame = 0;      ///< and the words around it this
    TokenScale scale{};          ///< already in `threshold` and `target`
    std::int64_t limit = 0;      ///< the threshold of requests, as it was set; 0: `threshold`
};

/// Which turns a summary will stand for.
struct TurnPlan : FoldedMessages {
    std::int64_t prefix_tokens = 0;
    std::int64_t pinned_tokens = 0;   ///< between the prefix and `kept_from`
    std::int64_t current_tokens = 0;  ///< from `kept_from` on
    std::int64_t recent_tokens = 0;   ///< of newest turns that fit the budget
    std::int64_t summary_tokens = 0;  ///< what the summary may have; 0: there is no room for one

    /// What no plan can go below: all that stays whatever is folded.
    [[nodiscard]] std::int64_t minimum_with(std::int64_t system_and_tools) const noexcept;
};

/// What a summary may have: at most seven eighths of what it replaces, and what the threshold leaves. 0: less than a
/// quarter of its size, which is not worth a call.
[[nodiscard]] std::int64_t tokens_for_summary(const TurnPlan& plan, const TurnBudget& budget) noexcept;

/// Plans a fold: the newest turns that fit the budget stay word for word, all older ones are folded, the summary that
/// stands there included. Whole turns are folded; where numbers are missing, and inside the current turn, tool rounds
/// are. A round of which a message is pinned stays. `tokens`: of each message. Linear.
[[nodiscard]] TurnPlan plan_turns(const Outline& outline, std::span<const std::int64_t> tokens,
                                  const TurnLayout& layout, const TurnBudget& budget, std::string_view self,
                                  FunctionRef<bool(std::size_t)> is_pinned);

}  // namespace whittle::inline v0
