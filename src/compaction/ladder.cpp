#include "compaction_run.hpp"

#include "whittle/base/text.hpp"
#include "whittle/summary/detail/chunk_planner.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace whittle::inline v0::detail {

namespace {

/// Less is not worth a model call.
std::int64_t smallest_summary(const TurnBudget& budget) noexcept {
    return add_saturating(budget.frame, std::max<std::int64_t>(1, budget.summary / 4));
}

std::int64_t limit_of(const TurnBudget& budget) noexcept { return budget.limit > 0 ? budget.limit : budget.threshold; }

}  // namespace

std::int64_t floor_of(const TurnPlan& plan, const TurnBudget& budget) noexcept {
    return budget.scale.to_request(plan.floor_with(budget.system_and_tools));
}

std::string describe_floor(const TurnPlan& plan, const TurnBudget& budget) {
    const TokenScale& scale = budget.scale;
    return fmt::format(
        "no summary: what has to stay takes {} tokens, the threshold is {}: {} beside the messages (system text, "
        "tools), {} in the protected prefix, {} in pinned messages, {} in the current turn; a summary takes {} or more",
        floor_of(plan, budget), limit_of(budget), scale.to_request(budget.system_and_tools),
        scale.to_request(plan.prefix_tokens), scale.to_request(plan.pinned_tokens),
        scale.to_request(plan.current_tokens), scale.to_request(smallest_summary(budget)));
}

std::string describe_idle(const TurnPlan& plan, const TurnBudget& budget) {
    const std::string_view why = plan.folded.empty()       ? "there is nothing to fold"
                                 : plan.has_only_summaries ? "only the previous summary can be folded"
                                                           : "what can be folded is too little";
    const TokenScale& scale = budget.scale;
    return fmt::format(
        "no summary: {} ({} tokens); the threshold is {}: {} beside the messages (system text, tools), {} in the "
        "protected prefix, {} in pinned messages, {} in recent turns, {} in the current turn",
        why, scale.to_request(plan.folded_tokens), limit_of(budget), scale.to_request(budget.system_and_tools),
        scale.to_request(plan.prefix_tokens), scale.to_request(plan.pinned_tokens),
        scale.to_request(plan.recent_tokens), scale.to_request(plan.current_tokens));
}

std::string describe_broken(std::span<const Violation> violations) {
    if (violations.empty()) return {};
    std::string text = "no summary: it would break a rule that the history keeps now";
    for (const Violation& v : violations)
        text += fmt::format("; {} at message {}: {}", id_of(v.rule), v.message, v.text);
    return text;
}

std::string joined_numbers(std::initializer_list<std::int64_t> numbers) {
    std::string text;
    for (const std::int64_t number : numbers) text.append(text.empty() ? "" : ",").append(std::to_string(number));
    return text;
}

std::string describe_compacted(std::int64_t tokens, std::int64_t threshold) {
    return fmt::format("after compaction the request still has {} tokens, the threshold is {}", tokens, threshold);
}

bool is_over_floor(const TurnPlan& plan, const TurnBudget& budget) noexcept {
    return add_saturating(plan.floor_with(budget.system_and_tools), smallest_summary(budget)) > budget.threshold;
}

std::string cut_summary(std::string_view summary, std::int64_t max_tokens, const TokenCounter& counter) {
    if (counter.count(summary) <= max_tokens) return std::string(summary);
    const auto guess = static_cast<std::size_t>(std::max<std::int64_t>(1, max_tokens)) * 3;
    return std::string(
        longest_prefix(summary, guess, [&](std::string_view text) { return counter.count(text) <= max_tokens; }));
}

}  // namespace whittle::inline v0::detail
