#include "whittle/compaction/detail/turns.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/base/text.hpp"
#include "whittle/summary/detail/fold.hpp"

#include <algorithm>
#include <unordered_map>

namespace whittle::inline v0 {

namespace {

bool is_summary_of(const MessageInfo& info, std::string_view self) noexcept {
    return origin_of(info.mark) == Origin::summary && info.mark->by == self;
}

/// The last place at or before `at` where a cut tears no tool round. O(size).
std::size_t back_to_border(const std::vector<std::size_t>& starts, std::size_t at) noexcept {
    for (std::size_t i = starts.size(); i-- > at;) at = std::min(at, starts[i]);
    return at;
}

std::size_t start_of_current(const Outline& outline) noexcept {
    const std::size_t size = outline.size();
    int newest = 0;
    for (std::size_t i = 0; i < size; ++i) newest = std::max(newest, outline[i].turn);
    if (newest == 0) return outline.newest_turn_start().value_or(size);
    std::size_t i = 0;
    while (outline[i].turn != newest) ++i;
    return i;
}

/// Where the `count` newest tool rounds from `first` on start; `first` if there are not so many.
std::size_t start_of_rounds(const Outline& outline, std::size_t first, int count) noexcept {
    for (std::size_t i = outline.size(); i-- > first;) {
        const bool is_call = outline[i].round_serial != 0 && outline[i].round_serial == outline[i].serial;
        if (is_call && --count <= 0) return i;
    }
    return first;
}

/// What keeps each message of [first, last) apart from its place; empty: nothing does.
std::vector<std::string_view> turn_rules(const Outline& outline, const TurnLayout& layout,
                                         FunctionRef<bool(std::size_t)> is_pinned) {
    std::vector<std::string_view> rules(outline.size());
    std::unordered_map<Serial, std::string_view> kept_rounds;
    for (std::size_t i = 0; i < outline.size(); ++i) {
        if (i < layout.prefix) {
            rules[i] = "prefix";
        } else if (i >= layout.kept_from) {
            rules[i] = "current_turn";
        } else if (is_pinned(i)) {
            rules[i] = "pinned";
        }
        if (!rules[i].empty() && outline[i].round_serial != 0) kept_rounds.emplace(outline[i].round_serial, "pinned");
    }
    for (std::size_t i = layout.prefix; i < layout.kept_from; ++i) {
        if (rules[i].empty() && outline[i].round_serial != 0 && kept_rounds.contains(outline[i].round_serial))
            rules[i] = "pinned";
    }
    return rules;
}

void add_kept(TurnPlan& plan, std::size_t i, std::int64_t tokens) noexcept {
    std::int64_t& sum = plan.rules[i] == "prefix"         ? plan.prefix_tokens
                        : plan.rules[i] == "current_turn" ? plan.current_tokens
                                                          : plan.pinned_tokens;
    sum = add_saturating(sum, tokens);
}

/// Finds where the newest turns start that stay word for word.
class RecentTurns {
public:
    RecentTurns(const Outline& outline, std::span<const std::int64_t> tokens, const TurnLayout& layout,
                std::string_view self)
        : outline_(outline), tokens_(tokens), layout_(layout), self_(self), starts_(round_starts(outline)) {}

    [[nodiscard]] std::size_t start(const TurnPlan& plan, std::int64_t budget) const {
        std::size_t first = layout_.kept_from;
        std::size_t lowest = layout_.kept_from;
        std::int64_t sum = 0;
        for (std::size_t i = layout_.kept_from; i-- > layout_.prefix;) {
            if (plan.rules[i].empty() && is_summary_of(outline_[i], self_)) break;  // a summary is never stacked
            lowest = std::min(lowest, starts_[i]);
            if (plan.rules[i].empty()) sum = add_saturating(sum, tokens_[i]);
            if (sum > budget) break;
            if (is_border(i) && lowest >= i) first = i;
        }
        return first;
    }

private:
    [[nodiscard]] bool is_border(std::size_t i) const noexcept {
        if (i == layout_.prefix || i > layout_.current) return true;
        const int turn = outline_[i].turn;
        return turn == 0 || turn != outline_[i - 1].turn;
    }

    const Outline& outline_;
    std::span<const std::int64_t> tokens_;
    const TurnLayout& layout_;
    std::string_view self_;
    std::vector<std::size_t> starts_;
};

/// What the turns that stay word for word may have.
std::int64_t budget_of_turns(const TurnPlan& plan, const TurnBudget& budget) noexcept {
    const std::int64_t fixed = sub_saturating(plan.minimum_with(budget.system_and_tools), plan.current_tokens);
    const std::int64_t cap = add_saturating(budget.summary, budget.frame);
    const std::int64_t most = std::min(budget.target, sub_saturating(budget.threshold, plan.current_tokens));
    return sub_saturating(most, add_saturating(fixed, cap));
}

}  // namespace

std::int64_t TurnPlan::minimum_with(std::int64_t system_and_tools) const noexcept {
    return add_saturating(add_saturating(system_and_tools, prefix_tokens),
                          add_saturating(pinned_tokens, current_tokens));
}

TurnLayout layout_of(const Outline& outline, std::string_view self, std::optional<int> keep_rounds) {
    TurnLayout layout;
    const auto is_protected = [&](const MessageInfo& info) {
        return info.role == Role::system && !is_summary_of(info, self);
    };
    while (layout.prefix < outline.size() && is_protected(outline[layout.prefix])) ++layout.prefix;
    const std::vector<std::size_t> starts = round_starts(outline);
    layout.current = std::max(layout.prefix, back_to_border(starts, start_of_current(outline)));
    layout.kept_from = layout.current;
    if (keep_rounds) {
        const std::size_t start = start_of_rounds(outline, layout.current, *keep_rounds);
        layout.kept_from = std::max(layout.prefix, back_to_border(starts, start));
    }
    return layout;
}

std::int64_t tokens_for_summary(const TurnPlan& plan, const TurnBudget& budget) noexcept {
    const std::int64_t left = sub_saturating(
        budget.threshold, add_saturating(plan.minimum_with(budget.system_and_tools), plan.recent_tokens));
    const std::int64_t room = sub_saturating(std::min(left, plan.folded_tokens / 8 * 7), budget.frame);
    return room < std::max<std::int64_t>(1, budget.summary / 4) ? 0 : std::min(room, budget.summary);
}

TurnPlan plan_turns(const Outline& outline, std::span<const std::int64_t> tokens, const TurnLayout& layout,
                    const TurnBudget& budget, std::string_view self, FunctionRef<bool(std::size_t)> is_pinned) {
    TurnPlan plan;
    plan.rules = turn_rules(outline, layout, is_pinned);
    for (std::size_t i = 0; i < outline.size(); ++i) {
        if (!plan.rules[i].empty()) add_kept(plan, i, tokens[i]);
    }
    const RecentTurns recent(outline, tokens, layout, self);
    const std::size_t cut = recent.start(plan, budget_of_turns(plan, budget));
    for (std::size_t i = layout.prefix; i < layout.kept_from; ++i) {
        if (!plan.rules[i].empty()) continue;
        plan.rules[i] = i < cut ? "fold" : "recent";
        std::int64_t& sum = i < cut ? plan.folded_tokens : plan.recent_tokens;
        sum = add_saturating(sum, tokens[i]);
        if (i >= cut) continue;
        plan.folded.push_back(i);
        plan.has_only_summaries = plan.has_only_summaries && comes_from_fold(outline[i]);
    }
    plan.summary_tokens = tokens_for_summary(plan, budget);
    return plan;
}

}  // namespace whittle::inline v0
