#pragma once

// Definitions of Compaction<M>; included by compaction.hpp.

#include "whittle/base/saturating.hpp"
#include "whittle/compaction/compaction.hpp"
#include "whittle/digest/noted.hpp"

#include <algorithm>
#include <exception>

namespace whittle::inline v0 {

template <AgentMessage M>
void Compaction<M>::check(const ChainInfo& chain, Problems& problems) const {
    std::size_t others = 0;
    while (others < chain.summarisers.size() && chain.summarisers[others] != name_) ++others;
    check_compaction(config_, chain.config, others, name_, problems);
}

template <AgentMessage M>
std::int64_t Compaction<M>::count(Turn<M>& turn) const {
    return config_.token_counter ? counted(turn).total : turn.context_tokens();
}

template <AgentMessage M>
ContextCount Compaction<M>::counted(Turn<M>& turn) const {
    if (!config_.token_counter) return turn.counted();
    return turn.conversation.context(config_.token_counter, turn.request.system, turn.request.tools);
}

template <AgentMessage M>
Model<M>* Compaction<M>::model_of(Turn<M>& turn) const {
    return summariser_ ? summariser_.get() : turn.request.model;
}

/// What an overflow taught bounds an absolute threshold too.
template <AgentMessage M>
CompactionLimits Compaction<M>::limits_for(Turn<M>& turn) const {
    const std::int64_t window = detail::known_window(turn);
    const std::int64_t room = std::max(window / 2, sub_saturating(window, turn.config.profile.output_reserve));
    return fitting(limits_of(config_, window), room);
}

template <AgentMessage M>
void Compaction<M>::before_model(Turn<M>& turn) {
    Sizes sizes{limits_for(turn), count(turn)};
    turn.report.count = sizes.tokens;
    if (detail::waits_for_window(config_, detail::known_window(turn))) {
        turn.report.outcome = Outcome::undue;
        return;
    }
    turn.report.threshold = sizes.limits.threshold;
    turn.report.outcome = Outcome::undue;
    if (config_.token_counter) turn.report.counter = config_.token_counter->id();
    if (sizes.tokens <= sizes.limits.threshold) {
        for (const char* key : {"retry_at_tokens", "floor_told", "fruitless"}) forget(turn, key);
        return;
    }
    turn.report.outcome = Outcome::remembered;
    if (sizes.tokens < turn.notes().integer("retry_at_tokens").value_or(0)) return;
    sizes.counted = counted(turn);
    Run run(turn, config_, callbacks_, sizes.limits, sizes.tokens, sizes.counted);
    if (was_fruitless(turn, run, sizes)) return;
    forget(turn, "fruitless");
    climb(turn, run, sizes);
}

/// Whether the same run did nothing before: since then messages only came to what is sacred.
template <AgentMessage M>
bool Compaction<M>::was_fruitless(Turn<M>& turn, const Run& run, const Sizes& sizes) const {
    if (turn.config.explain || turn.config.dry_run) return false;
    const Notes notes = turn.notes();
    const auto before = notes.text("fruitless");
    return before && sizes.tokens >= notes.integer("fruitless_tokens").value_or(0) &&
           *before == run.situation(model_of(turn) != nullptr);
}

/// Not where the store refused something, nor where the current turn's growth makes recent turns due.
template <AgentMessage M>
void Compaction<M>::remember_fruitless(Turn<M>& turn, const Run& run, const Sizes& sizes) const {
    const bool has_model = model_of(turn) != nullptr;
    const bool is_final =
        !has_model || run.plan().recent_tokens == 0 || detail::is_over_floor(run.plan(), run.budget());
    if (run.is_refused() || !is_final) return;
    note(turn, "fruitless", run.situation(has_model));
    note(turn, "fruitless_tokens", sizes.tokens);
}

/// The threshold is now what the model takes; without a known window, half of the request.
template <AgentMessage M>
bool Compaction<M>::on_overflow(Turn<M>& turn, const Overflow&) {
    Sizes sizes{limits_of(config_, detail::known_window(turn)), std::max<std::int64_t>(1, count(turn)), counted(turn)};
    const double scale = std::max(1.0, static_cast<double>(turn.report.count) / static_cast<double>(sizes.tokens));
    const auto fitting = to_int64(static_cast<double>(turn.report.threshold) / scale);
    CompactionLimits& limits = sizes.limits;
    limits.threshold = std::max<std::int64_t>(1, turn.report.threshold > 0 ? fitting : sizes.tokens / 2);
    limits.target = std::min(limits.target, limits.threshold);
    limits.summary = std::min(limits.summary, std::max<std::int64_t>(1, limits.target / 2));
    turn.report.outcome = Outcome::nothing;
    Run run(turn, config_, callbacks_, sizes.limits, sizes.tokens, sizes.counted);
    return climb(turn, run, sizes);
}

template <AgentMessage M>
bool Compaction<M>::climb(Turn<M>& turn, Run& run, const Sizes& sizes) const {
    run.stage_cheap();
    if (!run.needs_summary()) return commit_cheap(turn, run, sizes);
    run.plan_summary();
    const bool is_due = may_summarise(turn, run, sizes);
    if (turn.config.explain || is_due) run.list_candidates(is_due);
    if (is_due) return summarise(turn, run, sizes);
    const bool is_changed = commit_cheap(turn, run, sizes);
    if (!is_changed) remember_fruitless(turn, run, sizes);
    return is_changed;
}

/// Says once what is in the way.
template <AgentMessage M>
bool Compaction<M>::may_summarise(Turn<M>& turn, const Run& run, const Sizes& sizes) const {
    const bool is_over_floor = detail::is_over_floor(run.plan(), run.budget());
    if (is_over_floor || !run.can_summarise()) {
        const bool is_stuck = is_over_floor || run.tokens_now() > sizes.limits.threshold;
        const std::int64_t obstacle = is_over_floor ? 1 : 2;
        if (!is_stuck || turn.notes().integer("floor_told") == obstacle) return false;
        note(turn, "floor_told", obstacle);
        report_obstacle(turn, run, sizes);
        return false;
    }
    forget(turn, "floor_told");
    if (model_of(turn) != nullptr) return true;
    if (!turn.notes().integer("no_model_told")) {
        constexpr auto text = "no summary: there is neither a summariser nor a model of the agent's own";
        turn.report.more().error = text;
        emit(turn.callbacks.on_event, {Event::Level::warning, name_, "no_model", text, turn.conversation.id()});
        note(turn, "no_model_told", std::int64_t{1});
    }
    return false;
}

template <AgentMessage M>
void Compaction<M>::report_obstacle(Turn<M>& turn, const Run& run, const Sizes& sizes) const {
    const bool is_floor = detail::is_over_floor(run.plan(), run.budget());
    const std::string text =
        is_floor ? detail::describe_floor(run.plan(), run.budget()) : detail::describe_idle(run.plan(), run.budget());
    turn.report.more().error = text;
    emit(turn.callbacks.on_event, {Event::Level::warning, name_, is_floor ? "irreducible" : "nothing_to_fold", text,
                                   turn.conversation.id(), sizes.tokens, detail::floor_of(run.plan(), run.budget())});
}

/// The cheap stages stand; the next attempt waits until what they leave has grown.
template <AgentMessage M>
bool Compaction<M>::report_broken(Turn<M>& turn, Run& run, const Sizes& sizes, const std::string& text) const {
    turn.report.more().error = text;
    emit(turn.callbacks.on_event, {Event::Level::warning, name_, "no_valid_summary", text, turn.conversation.id()});
    const std::int64_t planned = run.tokens_now();
    const bool is_changed = commit_cheap(turn, run, sizes);
    const std::int64_t left = is_changed ? planned : sizes.tokens;
    note(turn, "retry_at_tokens", add_saturating(left, cool_down_of(config_, sizes.limits.threshold)));
    return is_changed;
}

template <AgentMessage M>
bool Compaction<M>::commit_cheap(Turn<M>& turn, Run& run, const Sizes& sizes) const {
    const CommitResult result = run.commit();
    if (result.committed()) report_rest(turn, sizes, result);
    return result.committed();
}

/// Makes the summary and commits everything. A failure that is not to be thrown is reported and remembered here: what a
/// hook throws would take the note back.
template <AgentMessage M>
bool Compaction<M>::summarise(Turn<M>& turn, Run& run, const Sizes& sizes) const {
    try {
        if (const std::string broken = run.broken_rules(); !broken.empty())
            return report_broken(turn, run, sizes, broken);
        if (!turn.config.dry_run) return write_summary(turn, run, sizes);
        turn.report.outcome = Outcome::planned;
        turn.report.more().tokens_before = run.tokens_before();
        turn.report.more().tokens_after = run.expected_tokens();
    } catch (...) {
        if (config_.on_failure == OnFailure::propagate || detail::ends_hook(turn.request.stop)) throw;
        report_failure(turn, sizes, {.message = detail::current_error_text()});
    }
    return false;
}

/// Where no call could be made, the cheap stages are committed, so that they are not planned and stored again and
/// again.
template <AgentMessage M>
bool Compaction<M>::write_summary(Turn<M>& turn, Run& run, const Sizes& sizes) const {
    Notes notes = turn.notes();
    const detail::NotedDigest<M> digest =
        detail::go_on_with_digest<M>(notes, [&](DigestState& state) { return run.generate(*model_of(turn), state); });
    if (const auto& failure = digest.result.failure) {
        if (digest.is_unfinished) {
            detail::report_unfinished(turn, digest.state, run.plan().folded.size());
            return digest.result.model_calls == 0 && commit_cheap(turn, run, sizes);
        }
        report_failure(turn, sizes, *failure);
        return false;
    }
    run.stage_summary(digest.result.summary);
    const CommitResult commit = run.commit();
    if (!commit.committed()) {
        report_failure(
            turn, sizes,
            commit.outcome == Outcome::store_failed ? detail::not_stored(commit.store_error) : detail::not_smaller());
        return false;
    }
    notes.erase("retry_at_tokens");
    report_rest(turn, sizes, commit);
    return true;
}

template <AgentMessage M>
void Compaction<M>::report_rest(Turn<M>& turn, const Sizes& sizes, const CommitResult& result) const {
    const TokenScale scale = sizes.counted.scale_to(sizes.tokens);
    const std::int64_t after =
        sub_saturating(sizes.tokens, scale.to_request(sub_saturating(result.tokens_before, result.tokens_after)));
    if (after <= sizes.limits.threshold || !turn.report.more().error.empty()) return;
    const std::string text = detail::describe_compacted(after, sizes.limits.threshold);
    turn.report.more().error = text;
    emit(turn.callbacks.on_event, {Event::Level::warning, name_, "still_above_threshold", text, turn.conversation.id(),
                                   result.tokens_before, result.tokens_after});
}

/// What is thrown came from elsewhere and may not say what it ended; the event does.
template <AgentMessage M>
void Compaction<M>::report_failure(Turn<M>& turn, const Sizes& sizes, const DigestError& failure) const {
    const std::string message = name_ + ": write a summary: " + failure.message;
    if (config_.on_failure == OnFailure::propagate) {
        detail::tell_failure(turn.callbacks.on_event, name_, turn.conversation.id(), message);
        std::rethrow_exception(detail::exception_of(failure, message));
    }
    turn.notes().set("retry_at_tokens", add_saturating(sizes.tokens, cool_down_of(config_, sizes.limits.threshold)));
    turn.report.outcome = Outcome::failed;
    turn.report.more().error = message;
    detail::tell_failure(turn.callbacks.on_event, name_, turn.conversation.id(), message);
}

/// Everything starts behind the protected prefix.
template <AgentMessage M>
std::size_t Compaction<M>::untouched_prefix(const Conversation<M>& conversation) const {
    const Outline outline = conversation.outline();
    std::size_t i = layout_of(outline, name_).prefix;
    while (i < outline.size() && outline[i].pinned) ++i;
    return i;
}

}  // namespace whittle::inline v0
