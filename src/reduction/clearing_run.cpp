#include "whittle/reduction/detail/clearing_run.hpp"

#include "whittle/base/detail/names.hpp"
#include "whittle/base/event.hpp"
#include "whittle/chain/detail/edit_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
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

}  // namespace

ClearingLimits clearing_limits_now(HookTurn& turn, const ReductionConfig& config, std::int64_t tokens) {
    ClearingLimits limits = limits_of(config, turn.known_window());
    if (limits.free <= 0 || tokens <= limits.free || tokens > limits.due) return limits;
    const auto free_from = EditSchedule::free_from(turn);
    if (!free_from) return limits;
    const Outline outline = turn.outline();
    const auto& pins = turn.config.pins;
    const ClearingPlan plan =
        plan_clearing(outline, config, turn.config.protected_tools, turn.report.middleware,
                      [&](std::size_t message) { return outline[message].pinned || (pins && pins(outline[message])); });
    const std::size_t first =
        std::min(first_to_clear(plan, config, outline.size()), first_old_thinking(outline, config));
    if (first >= *free_from) limits.due = limits.free;
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

ClearingPlan ClearingRun::plan() const {
    return plan_clearing(edit_.outline(), config_, turn_.config.protected_tools, name_,
                         [&](std::size_t message) { return edit_.is_pinned(message); });
}

void ClearingRun::clear(std::int64_t target) {
    edit_.allow_stored();
    clear_thinking(target);
    ClearingPlan planned = plan();
    std::vector<ClearingCandidate>& candidates = planned.candidates;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
        const ClearingCandidate& candidate = candidates[c];
        const bool enough = is_enough(target, counted_freed());
        erased_.clear();
        std::int64_t freed = 0;
        const bool is_looked_at = candidate.rule.empty() && !enough;
        const bool has_failed = is_looked_at && !attempt([&] { freed = stage(candidate); });
        const std::string_view rule = !candidate.rule.empty() ? candidate.rule
                                      : enough                ? "target_reached"
                                      : has_failed            ? "failed"
                                      : freed > 0             ? "old_round"
                                                              : "no_gain";
        if (turn_.config.explain || freed > 0 || has_failed) {
            turn_.report.more().candidates.push_back(
                {edit_.outline()[candidate.message].serial, candidate.parts.front(), freed > 0, rule, freed});
        }
        std::ranges::sort(erased_);
        if (freed > 0 && !erased_.empty()) close_ranks(std::span(candidates).subspan(c + 1), candidate.message);
    }
}

/// A handler has erased parts: later results in that message have moved.
void ClearingRun::close_ranks(std::span<ClearingCandidate> candidates, std::size_t message) const {
    for (ClearingCandidate& candidate : candidates) {
        if (candidate.message != message) continue;
        for (std::size_t& part : candidate.parts) part -= count_below(erased_, part);
    }
}

std::vector<Part> ClearingRun::parts_of_result(const ClearingCandidate& candidate) const {
    std::vector<Part> parts;
    for_each_part_of(candidate, [&](std::size_t, const PartView& part) { parts.push_back(to_part(part)); });
    return parts;
}

std::string ClearingRun::arguments_of(const ClearingCandidate& candidate) const {
    return candidate.call_part ? edit_.text_of_part(candidate.call, *candidate.call_part) : std::string();
}

std::int64_t ClearingRun::tokens_of(const PartView& part) const {
    const TokenCounter& counter = turn_.counter();
    return part.kind == PartKind::media ? counter.media_tokens(part.media) : counter.count(part.text);
}

/// Plans one call's clearing as a unit of its own. Returns the tokens that it frees; 0 if it was left as it is.
std::int64_t ClearingRun::stage(const ClearingCandidate& candidate) {
    const std::int64_t before = edit_.tokens_after();
    const ToolReductionCallbacks* own = find_for_tool(callbacks_.tool_config, tool_of(candidate));
    const bool is_handled = own != nullptr && own->clear_handler;
    std::vector<Part> parts;  // as a user's function sees them
    if (is_handled || callbacks_.generate_key) parts = parts_of_result(candidate);
    std::optional<ClearResult> handled;
    if (is_handled) {
        handled = ask(own->clear_handler, candidate, parts);
        if (!handled->need_clear) return 0;
    }
    const bool has_failed = first_part(candidate).is_error;
    planned_.begin_unit();
    const Unit unit = edit_.begin_unit();
    const auto drop = [&] {
        edit_.drop_unit(unit);
        planned_.drop_unit();
        return 0;
    };
    try {
        if (handled) {
            stage_handler(candidate, parts, *std::move(handled));
        } else {
            stage_result(candidate, parts);
            if (clears_inputs(config_, tool_of(candidate)) || (config_.clear_failed_inputs && has_failed))
                stage_arguments(candidate, parts);
        }
    } catch (...) {
        drop();
        throw;
    }
    const std::int64_t freed = before - edit_.tokens_after();
    if (freed <= 0) return drop();
    if (is_handled) users_units_.push_back({unit, edit_.outline()[candidate.message].serial, candidate.parts.front()});
    return freed;
}

bool ClearingRun::attempt(FunctionRef<void()> work) {
    try {
        work();
        return true;
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const Error& error) {
        if (turn_.config.on_error == OnError::propagate || error.errc() == Errc::cancelled) throw;
        note_failure();
    } catch (...) {
        if (turn_.config.on_error == OnError::propagate) throw;
        note_failure();
    }
    return false;
}

/// Of the exception in flight.
void ClearingRun::note_failure() {
    if (failures_++ == 0) first_failure_ = current_error_text();
}

void ClearingRun::tell_failures() {
    if (failures_ == 0) return;
    const std::string text =
        failures_ == 1 ? first_failure_ : first_failure_ + " (and " + std::to_string(failures_ - 1) + " more)";
    failures_ = 0;
    turn_.report.more().error = text;
    tell_failure(turn_.on_event, name_, turn_.conversation_id(), text);
}

/// What users' functions made that breaks a rule of the provider, by itself or together, is left out; if that is not
/// why the commit failed, all of it.
CommitResult ClearingRun::commit(std::int64_t at_least) {
    CommitResult result;
    const auto commit_edit = [&] { result = edit_.commit({.at_least_tokens = counted_for(at_least)}); };
    if (users_units_.empty()) {
        commit_edit();
    } else if (!is_valid(commit_edit) && (drop_rule_breakers().empty() || !is_valid(commit_edit))) {
        std::vector<Unit> all;
        for (const UsersUnit& users : users_units_) all.push_back(users.unit);
        report_dropped(all);
        edit_.drop_units(std::move(all));
        commit_edit();
    }
    const bool is_nothing = result.outcome == Outcome::nothing || result.outcome == Outcome::too_small;
    if (failures_ > 0 && is_nothing) turn_.report.outcome = Outcome::failed;
    tell_failures();
    return result;
}

/// Runs a commit; false if it would break a rule. Whatever else goes wrong is none of the users' edits' fault.
bool ClearingRun::is_valid(FunctionRef<void()> commit) {
    try {
        commit();
        return true;
    } catch (const Error& error) {
        if (turn_.config.on_error == OnError::propagate || error.errc() != Errc::invalid_history) throw;
        note_failure();
        return false;
    }
}

std::vector<Unit> ClearingRun::drop_rule_breakers() {
    std::vector<Unit> units;
    for (const UsersUnit& users : users_units_) units.push_back(users.unit);
    std::vector<Unit> dropped = edit_.drop_rule_breakers(std::move(units));
    report_dropped(dropped);
    return dropped;
}

void ClearingRun::report_dropped(const std::vector<Unit>& units) {
    const std::unordered_set<Unit> dropped(units.begin(), units.end());
    std::set<std::pair<Serial, std::size_t>> places;
    for (const UsersUnit& users : users_units_) {
        if (dropped.contains(users.unit)) places.emplace(users.serial, users.part);
    }
    for (Candidate& candidate : turn_.report.more().candidates) {
        if (!candidate.cut || !places.contains({candidate.serial, candidate.part})) continue;
        candidate.cut = false;
        candidate.rule = "failed";
        candidate.tokens = 0;
    }
}

}  // namespace whittle::inline v0::detail
