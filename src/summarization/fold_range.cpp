#include "whittle/summarization/detail/fold_range.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/summary/detail/fold.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace whittle::inline v0 {

namespace {

constexpr std::string_view rule_fold = "fold";

/// What keeps message `i` by itself; empty: nothing does.
std::string_view own_rule(const Outline& outline, std::size_t i, Serial open_round_serial,
                          FunctionRef<bool(std::size_t)> is_pinned) {
    const MessageInfo& info = outline[i];
    const bool is_summary = origin_of(info.mark) == Origin::summary;
    if (info.role == Role::system && (!is_summary || is_pinned(i))) return "system";
    if (open_round_serial != 0 && info.round_serial == open_round_serial) return "open_round";
    return is_pinned(i) ? "pinned" : std::string_view{};
}

/// A message that stays keeps its whole round.
void keep_whole_rounds(const Outline& outline, std::vector<std::string_view>& rules) {
    std::unordered_map<Serial, std::string_view> kept_groups;
    for (std::size_t i = 0; i < outline.size(); ++i) {
        if (!rules[i].empty() && outline[i].round_serial != 0) kept_groups.emplace(outline[i].round_serial, rules[i]);
    }
    for (std::size_t i = 0; i < outline.size() && !kept_groups.empty(); ++i) {
        const auto found = kept_groups.find(outline[i].round_serial);
        if (rules[i].empty() && outline[i].round_serial != 0 && found != kept_groups.end()) rules[i] = found->second;
    }
}

std::vector<std::string_view> fold_rules(const Outline& outline, const FoldLimits& limits,
                                         FunctionRef<bool(std::size_t)> is_pinned) {
    std::vector<std::string_view> rules(outline.size());
    const Serial open = outline.open_round_serial();
    for (std::size_t i = 0; i < outline.size(); ++i) rules[i] = own_rule(outline, i, open, is_pinned);
    if (const auto newest = outline.newest_turn_start(); newest && rules[*newest] != "open_round")
        rules[*newest] = "newest_user";
    const MessageRange head = limits.keep_loop_head ? outline.required_first_step() : MessageRange{};
    for (std::size_t i = head.begin; i < head.end; ++i) {
        if (rules[i].empty()) rules[i] = "required_first_step";
    }
    keep_whole_rounds(outline, rules);
    return rules;
}

/// The tail grows from the end, round by round.
class Tail {
public:
    Tail(const FoldPlan& plan, const FoldLimits& limits) : limits_(limits) {
        const std::int64_t room = std::max<std::int64_t>(0, sub_saturating(limits.limit_tokens, plan.kept_tokens));
        most_tokens_ = limits.expected_tokens > 0
                           ? std::max(room / 4, sub_saturating(room, limits.expected_tokens / 7 * 8))
                           : room / 2;
        const auto kept = static_cast<std::int64_t>(plan.kept_messages);
        if (limits.limit_messages > 0) most_messages_ = std::max<std::int64_t>(0, limits.limit_messages - kept) / 2;
    }

    /// Whether it may reach back to a place with this many messages behind it, of which `own` with `tokens` would stay
    /// for this reason alone.
    [[nodiscard]] bool takes(std::size_t behind, std::int64_t own, std::int64_t tokens) const noexcept {
        if (own > most_messages_ || tokens > most_tokens_) return false;
        const bool is_wanted = static_cast<std::int64_t>(behind) <= limits_.keep_recent_messages || is_short_;
        return tokens <= limits_.keep_recent_tokens || is_wanted;
    }
    void set_size(std::size_t behind) noexcept {
        is_short_ = static_cast<std::int64_t>(behind) < limits_.keep_recent_messages;
    }

private:
    const FoldLimits& limits_;
    std::int64_t most_tokens_ = INT64_MAX;
    std::int64_t most_messages_ = INT64_MAX;
    bool is_short_ = true;
};

/// Where the recent tail starts.
std::size_t find_tail(const Outline& outline, std::span<const std::int64_t> tokens, const FoldPlan& plan,
                      const FoldLimits& limits) {
    const std::vector<std::size_t> starts = round_starts(outline);
    const std::size_t size = outline.size();
    Tail tail(plan, limits);
    tail.set_size(0);
    std::size_t first = size;
    std::size_t lowest_start = size;
    std::int64_t sum = 0;
    std::int64_t own = 0;
    for (std::size_t i = size; i-- > 0;) {
        lowest_start = std::min(lowest_start, starts[i]);
        if (plan.rules[i].empty()) sum = add_saturating(sum, tokens[i]), ++own;
        if (lowest_start < i) continue;  // a cut here would tear a round
        if (!tail.takes(size - i, own, sum)) break;
        first = i;
        tail.set_size(size - i);
    }
    return first;
}

/// Summaries that stay: the new one stands behind them.
struct StandingSummaries {
    std::size_t end = 0;  ///< behind the last one; 0: none stays
    int level = 0;        ///< of the new one
};

int level_of(const MessageInfo& info) noexcept {
    return origin_of(info.mark) == Origin::summary ? info.mark->level : -1;
}

/// Among those that the fold could take.
StandingSummaries find_standing(const Outline& outline, const std::vector<std::string_view>& rules, int per_level) {
    std::vector<std::size_t> summaries;
    for (std::size_t i = 0; i < outline.size(); ++i) {
        if (rules[i].empty() && origin_of(outline[i].mark) == Origin::summary) summaries.push_back(i);
    }
    StandingSummaries standing;
    while (!summaries.empty()) {
        const auto is_of_level = [&](std::size_t i) { return outline[i].mark->level <= standing.level; };
        const auto first = std::find_if_not(summaries.rbegin(), summaries.rend(), is_of_level).base();
        if (summaries.end() - first < per_level - 1) break;
        summaries.erase(first, summaries.end());
        ++standing.level;
    }
    standing.end = summaries.empty() ? 0 : summaries.back() + 1;
    return standing;
}

/// What stands in front of a summary that stays, stays: a prompt cache holds it.
int keep_standing(const Outline& outline, std::span<const std::int64_t> tokens, const FoldLimits& limits,
                  std::vector<std::string_view>& rules) {
    constexpr std::int64_t largest_part = 3;  // of the limit
    const StandingSummaries standing = find_standing(outline, rules, limits.summaries_per_level);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < standing.end; ++i) sum = add_saturating(sum, rules[i].empty() ? tokens[i] : 0);
    if (sum > limits.limit_tokens / largest_part) {
        int highest = 0;
        for (std::size_t i = 0; i < standing.end; ++i) highest = std::max(highest, level_of(outline[i]) + 1);
        return std::max(highest, standing.level);
    }
    for (std::size_t i = 0; i < standing.end; ++i) {
        if (rules[i].empty()) rules[i] = "level";
    }
    return standing.level;
}

}  // namespace

FoldPlan plan_fold(const Outline& outline, std::span<const std::int64_t> tokens, const FoldLimits& limits,
                   FunctionRef<bool(std::size_t)> is_pinned) {
    FoldPlan plan;
    plan.rules = fold_rules(outline, limits, is_pinned);
    if (limits.summaries_per_level > 1) {
        plan.level = keep_standing(outline, tokens, limits, plan.rules);
        keep_whole_rounds(outline, plan.rules);
    }
    for (std::size_t i = 0; i < outline.size(); ++i) {
        if (plan.rules[i].empty()) continue;
        plan.kept_tokens = add_saturating(plan.kept_tokens, tokens[i]);
        ++plan.kept_messages;
    }
    const std::size_t tail = find_tail(outline, tokens, plan, limits);
    for (std::size_t i = 0; i < outline.size(); ++i) {
        if (!plan.rules[i].empty()) continue;
        plan.rules[i] = i < tail ? rule_fold : "recent";
        std::int64_t& sum = i < tail ? plan.folded_tokens : plan.tail_tokens;
        sum = add_saturating(sum, tokens[i]);
        if (i >= tail) continue;
        plan.folded.push_back(i);
        plan.has_only_summaries = plan.has_only_summaries && comes_from_fold(outline[i]);
    }
    return plan;
}

std::int64_t limit_of_messages(const FoldSizes& sizes) noexcept {
    const std::int64_t wanted =
        sizes.trigger_tokens > 0 ? std::min(sizes.trigger_tokens, sizes.context_tokens) : sizes.context_tokens;
    return sub_saturating(sizes.counted_without_overhead(wanted), sizes.system_and_tools);
}

FoldSizes wanted_sizes(FoldSizes sizes) noexcept {
    if (sizes.wanted_tokens > 0) sizes.trigger_tokens = sizes.wanted_tokens;
    return sizes;
}

std::int64_t minimum_of(const FoldSizes& sizes, const FoldPlan& plan, std::int64_t reserve) noexcept {
    return add_saturating(sizes.scale.to_request(add_saturating(sizes.system_and_tools, plan.kept_tokens)), reserve);
}

bool is_overhead_in_the_way(const FoldSizes& sizes, const FoldPlan& plan, std::int64_t reserve) noexcept {
    if (sizes.trigger_tokens <= 0 || sizes.scale.overhead <= 0) return false;
    return add_saturating(minimum_of(sizes, plan, reserve), sizes.scale.overhead) > sizes.trigger_tokens;
}

std::int64_t room_for_summary(const FoldSizes& sizes, const FoldPlan& plan) noexcept {
    const std::int64_t left =
        std::min(sub_saturating(limit_of_messages(sizes), add_saturating(plan.kept_tokens, plan.tail_tokens)),
                 plan.folded_tokens);
    return left / 8 * 7;
}

}  // namespace whittle::inline v0
