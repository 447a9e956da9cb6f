#include "whittle/token_saving/detail/token_saver.hpp"

#include "on_arrival.hpp"
#include "saving_run.hpp"
#include "stats_board.hpp"
#include "whittle/base/event.hpp"
#include "word_cache.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

struct TokenSaver::Shared {
    StatsBoard stats{};
    WordCache cache{};
};

TokenSaver::TokenSaver(TokenSavingConfig config, std::string name)
    : config_(std::move(config)), name_(std::move(name)), shared_(std::make_shared<Shared>()) {}

TokenSavingStats TokenSaver::stats() const { return shared_->stats.all(); }

TokenSavingStats TokenSaver::stats(std::string_view conversation) const { return shared_->stats.of(conversation); }

ToolOutcome TokenSaver::wrap_tool(const ToolContext& context, PartSink& out, const ToolNext& next) const {
    if (!config_.enable_compression || config_.when != SavingTime::on_arrival) return next(context, out);
    return run_shortened(config_, name_, shared_->stats, context, out, next);
}

namespace {

/// Model calls there were when this run began, as its first hook notes; 0 before the first run.
int calls_before_run(HookTurn& turn) {
    if (turn.run_number() == 0) return 0;
    if (const auto noted = turn.notes().integer("calls_before_run")) return static_cast<int>(*noted);
    turn.notes().set("calls_before_run", std::int64_t{turn.conversation_model_calls()}, NoteScope::run);
    return turn.conversation_model_calls();
}

/// Once per run, and not into a round that still waits for results.
bool may_nudge(HookTurn& turn, const TokenSavingConfig& config) {
    return !turn.notes().integer("nudged") && turn.conversation_model_calls() >= config.early_exit_min_call_index &&
           turn.outline().is_open_round_complete();
}

void emit_swallowed(HookTurn& turn) {
    const std::string text = current_error_text();
    try {
        turn.report.ensure_details().error = text;
    } catch (...) {  // the event has it
    }
    emit_failure(turn.on_event, turn.report.middleware, turn.conversation_id(), text);
}

/// A nudge is noted before it is committed, so that it cannot come twice.
CommitResult commit_noted(HookTurn& turn, SavingRun& run, bool has_nudge) {
    if (!has_nudge) return run.commit();
    turn.notes().set("nudged", std::int64_t{1}, NoteScope::run);
    try {
        CommitResult result = run.commit();
        if (!result.committed()) turn.notes().erase("nudged");
        return result;
    } catch (...) {
        turn.notes().erase("nudged");
        throw;
    }
}

}  // namespace

/// Judges what this run did for the newest request: earlier requests were answered, and earlier runs ended, however
/// many steps that took.
bool TokenSaver::wants_nudge(HookTurn& turn) const {
    if (!config_.enable_early_exit || !config_.signals_fn) return false;
    const int calls = calls_before_run(turn);
    if (!may_nudge(turn, config_)) return false;
    try {
        const std::vector<Step> steps =
            steps_from(turn.outline(), first_reply_since(turn.outline(), calls), turn.part_visitor());
        return !steps.empty() && is_stuck(config_.signals_fn(steps));
    } catch (...) {
        emit_swallowed(turn);
        return false;
    }
}

TokenSaver::Due TokenSaver::find_due(HookTurn& turn) const {
    const int batch = batch_at(config_, turn.conversation_model_calls());
    const bool is_batch = (cuts() || cuts_words()) && turn.notes().integer("batch") != batch;
    return {is_batch, batch, wants_nudge(turn)};
}

void TokenSaver::before_model(HookTurn& turn, WithDraft with_draft) const {
    turn.report.outcome = Outcome::not_due;
    try {
        const Due due = find_due(turn);
        if (!due.is_batch && !due.is_nudge) return shared_->stats.add(turn.conversation_id(), {}, true);
        with_draft([&](Draft& edit) { run(turn, edit, due); });
    } catch (...) {
        if (turn.report.outcome != Outcome::committed) turn.report.outcome = Outcome::failed;
        emit_swallowed(turn);
    }
}

/// The notes say what was done once it is.
void TokenSaver::run(HookTurn& turn, Draft& edit, const Due& due) const {
    SavingRun run(turn, edit, config_, shared_->cache);
    if (due.is_batch && cuts()) run.shorten_results(due.batch);
    if (due.is_batch && cuts_words()) run.compress_old_words(due.batch);
    if (due.is_nudge) run.nudge();
    const CommitResult result = commit_noted(turn, run, due.is_nudge);
    if (result.outcome == Outcome::nothing && run.is_postponed()) turn.report.outcome = Outcome::too_small;
    const TokenSavingStats hits{.perplexity_cache_hits = run.cache_hits()};
    shared_->stats.add(turn.conversation_id(), result.committed() ? run.stats() : hits, true);
    const bool is_done = result.outcome != Outcome::store_failed && result.outcome != Outcome::planned &&
                         result.outcome != Outcome::vetoed;
    if (due.is_batch && is_done && result.unstored_edit_groups == 0) turn.notes().set("batch", std::int64_t{due.batch});
}

/// The next batch starts at the oldest text that no lever has had yet.
std::size_t TokenSaver::expected_stable_prefix(const Outline& outline, int model_calls) const {
    const std::function<bool(std::size_t)> is_pinned = [](std::size_t) { return false; };
    TokenSavingConfig next = config_;  // as if all were old enough
    next.keep_recent_tool_messages = 0;
    next.perplexity_recent_cutoff = next.perplexity_mid_cutoff = 0;
    const SavingPlanner planner{outline, next, {}, name_, is_pinned, model_calls};
    std::size_t prefix = outline.size();
    const auto look_at = [&](const std::vector<SavingCandidate>& candidates) {
        for (const SavingCandidate& candidate : candidates)
            if (candidate.may_cut) prefix = std::min(prefix, candidate.message);
    };
    if (cuts()) look_at(planner.head_and_tail());
    if (cuts_words()) look_at(planner.words());
    return prefix;
}

}  // namespace whittle::inline v0::detail
