#pragma once

// How ClearingRun<M> rewrites old rounds, and what becomes of those that fail; included by clearing_run.hpp.

#include "whittle/base/error.hpp"
#include "whittle/reduction/clearing_run.hpp"

#include <algorithm>
#include <cstdint>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

// ---- failures of one round
// ------------------------------------------------------------------------------------------

/// Runs what concerns one round or one result. If that fails, it alone stays as it is; what stops the whole hook is
/// thrown on. False if it failed.
template <AgentMessage M>
template <typename Work>
bool ClearingRun<M>::attempt(Work&& work) {
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
template <AgentMessage M>
void ClearingRun<M>::note_failure() {
    if (failures_++ == 0) first_failure_ = current_error_text();
}

template <AgentMessage M>
void ClearingRun<M>::tell_failures() {
    if (failures_ == 0) return;
    const std::string text =
        failures_ == 1 ? first_failure_ : first_failure_ + " (and " + std::to_string(failures_ - 1) + " more)";
    failures_ = 0;
    turn_.report.more().error = text;
    tell_failure(turn_.callbacks.on_event, name_, turn_.conversation.id(), text);
}

/// What users' functions made that breaks a rule of the provider, by itself or together, is left out; if that is not
/// why the commit failed, all of it.
template <AgentMessage M>
CommitResult ClearingRun<M>::commit(std::int64_t at_least) {
    CommitResult result;
    const auto commit_edit = [&] { result = edit_.commit({.at_least_tokens = counted_for(at_least)}); };
    if (users_units_.empty()) {
        commit_edit();
    } else if (!attempt(commit_edit) && (drop_rule_breakers().empty() || !attempt(commit_edit))) {
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

template <AgentMessage M>
std::vector<Unit> ClearingRun<M>::drop_rule_breakers() {
    std::vector<Unit> units;
    for (const UsersUnit& users : users_units_) units.push_back(users.unit);
    std::vector<Unit> dropped = edit_.drop_rule_breakers(std::move(units));
    report_dropped(dropped);
    return dropped;
}

template <AgentMessage M>
void ClearingRun<M>::report_dropped(const std::vector<Unit>& units) {
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

// ---- rewriting
// -------------------------------------------------------------------------------------------------------

/// Once only, and not what is cleared already.
template <AgentMessage M>
bool ClearingRun<M>::may_rewrite(const Round& round) const {
    const auto is_ours = [&](const Mark& mark) {
        return mark && mark->by == name_ && (mark->reason == "rewrite" || mark->reason == "clear");
    };
    const Outline outline = edit_.outline();
    if (is_ours(outline[round.call].mark)) return false;
    return std::ranges::none_of(round.results, [&](std::size_t message) {
        return std::ranges::any_of(outline[message].parts, [&](const PartInfo& part) { return is_ours(part.mark); });
    });
}

/// Asks oldest first, edits newest first: an edit then moves no round that is still to come.
template <AgentMessage M>
void ClearingRun<M>::rewrite(std::int64_t target) {
    if (!callbacks_.clear_message_rewriter) return;
    const auto retained = retained_rounds(config_);
    const std::vector<Round> rounds = edit_.outline().rounds();
    std::vector<std::pair<std::size_t, std::vector<M>>> rewritten;
    std::int64_t freed = 0;
    for (std::size_t r = 0; r + retained < rounds.size(); ++r) {
        if (is_enough(target, freed)) break;
        if (!may_rewrite(rounds[r])) continue;
        std::optional<std::vector<M>> messages;
        if (attempt([&] { messages = ask_rewriter(rounds[r], freed); }) && messages)
            rewritten.emplace_back(r, *std::move(messages));
    }
    for (auto last = rewritten.rbegin(); last != rewritten.rend(); ++last)
        replace_round(rounds[last->first], std::move(last->second));
}

/// What is to stand in place of a round, if that is smaller; adds what it frees.
template <AgentMessage M>
std::optional<std::vector<M>> ClearingRun<M>::ask_rewriter(const Round& round, std::int64_t& freed) {
    std::vector<M> before{edit_.messages()[round.call]};
    for (const std::size_t message : round.results) before.push_back(edit_.messages()[message]);
    std::vector<M> now = callbacks_.clear_message_rewriter(before.front(), std::span<const M>(before).subspan(1));
    if (std::ranges::equal(now, before, [](const M& a, const M& b) { return same_message(a, b); })) return std::nullopt;
    std::int64_t less = 0;
    for (const M& m : before) less = add_saturating(less, count_message(m, turn_.counter()));
    for (const M& m : now) less = sub_saturating(less, count_message(m, turn_.counter()));
    turn_.report.more().candidates.push_back({edit_.outline()[round.call].serial, 0, less > 0,
                                              less > 0 ? "rewritten" : "no_gain", std::max<std::int64_t>(0, less)});
    if (less <= 0) return std::nullopt;
    freed = add_saturating(freed, less);
    return now;
}

/// The new messages stand where the call stood.
template <AgentMessage M>
void ClearingRun<M>::replace_round(const Round& round, std::vector<M> messages) {
    const Provenance provenance{.origin = Origin::placeholder, .reason = "rewrite"};
    const bool is_one_stretch = round.results.empty() || round.results.back() == round.call + round.results.size();
    const Serial serial = edit_.outline()[round.call].serial;
    const Unit unit = edit_.begin_unit();
    edit_.allow_pinned(true);
    const bool is_done = attempt([&] {
        if (is_one_stretch) {
            edit_.replace_range(round.call, round.call + 1 + round.results.size(), std::move(messages), provenance);
        } else {
            for (auto last = round.results.rbegin(); last != round.results.rend(); ++last)
                edit_.erase(*last, provenance);
            edit_.replace_range(round.call, round.call + 1, std::move(messages), provenance);
        }
    });
    edit_.allow_pinned(false);
    is_done ? users_units_.push_back({unit, serial, 0}) : edit_.drop_unit(unit);
}

}  // namespace whittle::inline v0::detail
