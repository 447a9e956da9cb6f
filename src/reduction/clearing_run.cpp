#include "whittle/reduction/detail/clearing_run.hpp"

#include "result_clearing.hpp"
#include "whittle/chain/detail/edit_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

/// The oldest message that clearing will change: that of a result, or of its call where arguments go too.
std::size_t first_to_clear(const ClearingPlan& plan, const ReductionConfig& config, std::size_t otherwise) {
    const bool has_inputs = config.clear_failed_inputs || config.clear_tool_inputs != ClearToolInputs(false);
    for (const ClearingCandidate& candidate : plan.candidates) {
        if (candidate.rule.empty() || candidate.rule == "retained_round")  // old by then
            return has_inputs ? std::min(candidate.call, candidate.message) : candidate.message;
    }
    return otherwise;
}

/// A handler has erased parts: later results in that message have moved.
void close_ranks(std::span<ClearingCandidate> candidates, std::size_t message, std::span<const std::size_t> erased) {
    for (ClearingCandidate& candidate : candidates) {
        if (candidate.message != message) continue;
        for (std::size_t& part : candidate.parts) part -= count_below(erased, part);
    }
}

}  // namespace

ClearingLimits clearing_limits_now(HookTurn& turn, const ReductionConfig& config, std::int64_t tokens) {
    ClearingLimits limits = limits_of(config, turn.known_window());
    if (limits.trigger_tokens_if_cache_cold <= 0 || tokens <= limits.trigger_tokens_if_cache_cold ||
        tokens > limits.trigger_tokens)
        return limits;
    const auto free_from = EditSchedule::free_from(turn);
    if (!free_from) return limits;
    const Outline outline = turn.outline();
    const auto& pins = turn.config.pins;
    const ClearingPlan plan =
        plan_clearing(outline, config, turn.config.protected_tools, turn.report.middleware,
                      [&](std::size_t message) { return outline[message].pinned || (pins && pins(outline[message])); });
    const std::size_t first =
        std::min(first_to_clear(plan, config, outline.size()), first_old_thinking(outline, config));
    if (first >= *free_from) limits.trigger_tokens = limits.trigger_tokens_if_cache_cold;
    return limits;
}

std::size_t untouched_by_clearing(const Outline& outline, const ReductionConfig& config, std::string_view name) {
    const ClearingPlan plan = plan_clearing(outline, config, {}, name, [](std::size_t) { return false; });
    const std::size_t first = first_to_clear(plan, config, outline.size());
    return clears_thinking(config) ? std::min(first, first_with_thinking(outline)) : first;
}

void warn_if_above(HookTurn& turn, std::int64_t before, std::int64_t after, std::int64_t trigger) {
    if (after <= trigger) return;
    turn.warn_above_trigger(
        fmt::format("after clearing the request still has {} tokens, the trigger is {}: what has to stay is above it, "
                    "so each call will clear again",
                    after, trigger),
        before, after);
}

void ClearingRun::clear(std::int64_t target) {
    const HookTurn& turn = scope_.turn;
    scope_.edit.allow_editing_foreign_placeholders();
    clear_thinking(target);
    ClearingPlan planned = scope_.plan();
    std::vector<ClearingCandidate>& candidates = planned.candidates;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
        const ClearingCandidate& candidate = candidates[c];
        const bool enough = is_enough(target, scope_.counted_freed());
        std::int64_t freed = 0;
        ResultClearing result(scope_, candidate);
        const bool is_looked_at = candidate.rule.empty() && !enough;
        const bool has_failed = is_looked_at && !attempt([&] { freed = result.stage(); });
        const std::string_view rule = !candidate.rule.empty() ? candidate.rule
                                      : enough                ? "target_reached"
                                      : has_failed            ? "failed"
                                      : freed > 0             ? "old_round"
                                                              : "no_gain";
        const Serial serial = scope_.edit.outline()[candidate.message].serial;
        const Candidate decided{serial, candidate.parts.front(), freed > 0, rule, freed};
        if (turn.config.explain || freed > 0 || has_failed) turn.report.ensure_details().candidates.push_back(decided);
        if (freed <= 0) continue;
        if (result.is_users()) add_handler_edit(result.edit_group(), serial, candidate.parts.front());
        if (!result.erased().empty())
            close_ranks(std::span(candidates).subspan(c + 1), candidate.message, result.erased());
    }
}

/// What users' functions made that breaks a rule of the provider, by itself or together, is left out; if that is not
/// why the commit failed, all of it.
CommitResult ClearingRun::commit(std::int64_t at_least) {
    CommitResult result;
    const auto commit_edit = [&] {
        result = scope_.edit.commit({.min_token_reduction = scope_.counted_for(at_least)});
    };
    if (handler_edits_.empty()) {
        commit_edit();
    } else if (!failures_.is_valid(commit_edit) &&
               (drop_invalid_edit_groups().empty() || !failures_.is_valid(commit_edit))) {
        std::vector<EditGroup> all;
        for (const HandlerEdit& handler : handler_edits_) all.push_back(handler.edit_group);
        report_dropped(all);
        scope_.edit.drop_edit_groups(std::move(all));
        commit_edit();
    }
    const bool is_nothing = result.outcome == Outcome::nothing || result.outcome == Outcome::too_small;
    if (!failures_.empty() && is_nothing) scope_.turn.report.outcome = Outcome::failed;
    failures_.report();
    return result;
}

std::vector<EditGroup> ClearingRun::drop_invalid_edit_groups() {
    std::vector<EditGroup> edit_groups;
    for (const HandlerEdit& handler : handler_edits_) edit_groups.push_back(handler.edit_group);
    std::vector<EditGroup> dropped = scope_.edit.drop_invalid_edit_groups(std::move(edit_groups));
    report_dropped(dropped);
    return dropped;
}

void ClearingRun::report_dropped(const std::vector<EditGroup>& edit_groups) {
    const std::unordered_set<EditGroup> dropped(edit_groups.begin(), edit_groups.end());
    std::set<std::pair<Serial, std::size_t>> places;
    for (const HandlerEdit& handler : handler_edits_) {
        if (dropped.contains(handler.edit_group)) places.emplace(handler.serial, handler.part);
    }
    for (Candidate& candidate : scope_.turn.report.ensure_details().candidates) {
        if (!candidate.removed || !places.contains({candidate.serial, candidate.part})) continue;
        candidate.removed = false;
        candidate.rule = "failed";
        candidate.tokens_freed = 0;
    }
}

}  // namespace whittle::inline v0::detail
