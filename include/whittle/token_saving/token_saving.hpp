#pragma once

#include "whittle/chain/chain.hpp"
#include "whittle/token_saving/classifiers.hpp"
#include "whittle/token_saving/compress.hpp"
#include "whittle/token_saving/config.hpp"
#include "whittle/token_saving/on_arrival.hpp"
#include "whittle/token_saving/planning.hpp"
#include "whittle/token_saving/saving_run.hpp"
#include "whittle/token_saving/stats.hpp"
#include "whittle/token_saving/steps.hpp"
#include "whittle/token_saving/words.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// Three ways to spend fewer tokens: long tool results are cut to head and tail, an agent that runs in circles is told
/// to answer, and old texts lose the words that matter least. Whatever fails inside is reported and swallowed, also
/// under OnError::propagate: the run goes on. Place it last. Copies share stats and cache.
template <AgentMessage M = ChatMessage>
class TokenSaving final : public Middleware<M> {
public:
    explicit TokenSaving(TokenSavingConfig config = {}, std::string name = "token_saving")
        : config_(std::move(config)), name_(std::move(name)) {}

    [[nodiscard]] std::string_view name() const noexcept override { return name_; }
    [[nodiscard]] const TokenSavingConfig& config() const noexcept { return config_; }

    /// Of all conversations together since this middleware was made. Thread-safe.
    [[nodiscard]] TokenSavingStats stats() const { return stats_->all(); }
    /// Of one conversation; of the 1,024 that were served most recently. Thread-safe.
    [[nodiscard]] TokenSavingStats stats(std::string_view conversation) const { return stats_->of(conversation); }

    void check(const ChainInfo& chain, Problems& problems) const override {
        check_token_saving(config_, chain, name_, problems);
    }
    void before_model(Turn<M>& turn) override;
    ToolOutcome wrap_tool(const ToolContext& context, PartSink& out, const ToolNext& next) override;
    [[nodiscard]] std::size_t untouched_prefix(const Conversation<M>& conversation) const override;

private:
    [[nodiscard]] bool cuts() const { return config_.enable_compression && config_.when == SavingTime::batched; }
    [[nodiscard]] bool cuts_words() const {
        return config_.enable_perplexity_compression && !is_empty(config_.perplexity_classifier);
    }
    [[nodiscard]] int calls_before_run(Turn<M>& turn) const;
    [[nodiscard]] bool may_nudge(Turn<M>& turn) const;
    [[nodiscard]] bool wants_nudge(Turn<M>& turn) const;
    void run_batch(Turn<M>& turn, bool is_due, int batch, bool nudges);
    void tell_failure(Turn<M>& turn) const;

    TokenSavingConfig config_;
    std::string name_;
    std::shared_ptr<detail::StatsBoard> stats_ = std::make_shared<detail::StatsBoard>();
    std::shared_ptr<detail::WordCache> cache_ = std::make_shared<detail::WordCache>();
};

template <AgentMessage M>
ToolOutcome TokenSaving<M>::wrap_tool(const ToolContext& context, PartSink& out, const ToolNext& next) {
    if (!config_.enable_compression || config_.when != SavingTime::on_arrival) return next(context, out);
    return run_shortened(config_, name_, *stats_, context, out, next);
}

/// Model calls there were when this run began, as its first hook notes; 0 before the first run.
template <AgentMessage M>
int TokenSaving<M>::calls_before_run(Turn<M>& turn) const {
    if (turn.conversation.run() == 0) return 0;
    if (const auto noted = turn.notes().integer("calls_before_run")) return static_cast<int>(*noted);
    turn.notes().set("calls_before_run", std::int64_t{turn.conversation.model_calls()}, NoteScope::run);
    return turn.conversation.model_calls();
}

/// Once per run, and not into a round that still waits for results.
template <AgentMessage M>
bool TokenSaving<M>::may_nudge(Turn<M>& turn) const {
    return !turn.notes().integer("nudged") && turn.conversation.model_calls() >= config_.early_exit_min_call_index &&
           detail::is_round_complete(turn.conversation.outline());
}

/// Judges what this run did for the newest request: earlier requests were answered, and earlier runs ended, however
/// many steps that took.
template <AgentMessage M>
bool TokenSaving<M>::wants_nudge(Turn<M>& turn) const {
    if (!config_.enable_early_exit || !config_.signals_fn) return false;
    const int calls = calls_before_run(turn);
    if (!may_nudge(turn)) return false;
    try {
        const std::size_t first = detail::first_reply_since(turn.conversation.outline(), calls);
        const std::vector<Step> steps = detail::steps_from(turn.conversation, first);
        return !steps.empty() && is_stuck(config_.signals_fn(steps));
    } catch (...) {
        tell_failure(turn);
        return false;
    }
}

template <AgentMessage M>
void TokenSaving<M>::before_model(Turn<M>& turn) {
    turn.report.outcome = Outcome::undue;
    try {
        const int batch = detail::batch_at(config_, turn.conversation.model_calls());
        const bool is_due = (cuts() || cuts_words()) && turn.notes().integer("batch") != batch;
        const bool nudges = wants_nudge(turn);
        if (is_due || nudges) {
            run_batch(turn, is_due, batch, nudges);
        } else {
            stats_->add(turn.conversation.id(), {}, true);
        }
    } catch (...) {
        if (turn.report.outcome != Outcome::committed) turn.report.outcome = Outcome::failed;
        tell_failure(turn);
    }
}

/// The notes say what was done once it is; a nudge beforehand, so that it cannot come twice.
template <AgentMessage M>
void TokenSaving<M>::run_batch(Turn<M>& turn, bool is_due, int batch, bool nudges) {
    detail::SavingRun<M> run(turn, config_, name_, *cache_);
    if (is_due && cuts()) run.shorten_results(batch);
    if (is_due && cuts_words()) run.compress_old_words(batch);
    if (nudges) {
        run.nudge();
        turn.notes().set("nudged", std::int64_t{1}, NoteScope::run);
    }
    CommitResult result;
    try {
        result = run.commit();
    } catch (...) {
        if (nudges) turn.notes().erase("nudged");
        throw;
    }
    if (nudges && !result.committed()) turn.notes().erase("nudged");
    if (result.outcome == Outcome::nothing && run.is_postponed()) turn.report.outcome = Outcome::too_small;
    const TokenSavingStats hits{.perplexity_cache_hits = run.cache_hits()};
    stats_->add(turn.conversation.id(), result.committed() ? run.stats() : hits, true);
    const bool is_done = result.outcome != Outcome::store_failed && result.outcome != Outcome::planned;
    if (is_due && is_done && result.dropped_units == 0) turn.notes().set("batch", std::int64_t{batch});
}

template <AgentMessage M>
void TokenSaving<M>::tell_failure(Turn<M>& turn) const {
    const std::string text = detail::current_error_text();
    try {
        turn.report.more().error = text;
    } catch (...) {  // the event has it
    }
    detail::tell_failure(turn.callbacks.on_event, name_, turn.conversation.id(), text);
}

/// The next batch starts at the oldest text that no lever has had yet.
template <AgentMessage M>
std::size_t TokenSaving<M>::untouched_prefix(const Conversation<M>& conversation) const {
    const std::function<bool(std::size_t)> is_pinned = [](std::size_t) { return false; };
    const Outline outline = conversation.outline();
    TokenSavingConfig next = config_;  // as if all were old enough
    next.keep_recent_tool_messages = 0;
    next.perplexity_recent_cutoff = next.perplexity_mid_cutoff = 0;
    const detail::SavingPlanner planner{outline, next, {}, name_, is_pinned, conversation.model_calls()};
    std::size_t prefix = conversation.size();
    const auto look_at = [&](const std::vector<detail::SavingCandidate>& candidates) {
        for (const detail::SavingCandidate& candidate : candidates)
            if (candidate.may_cut) prefix = std::min(prefix, candidate.message);
    };
    if (cuts()) look_at(planner.head_and_tail());
    if (cuts_words()) look_at(planner.words());
    return prefix;
}

}  // namespace whittle::inline v0

#define WHITTLE_DEFINES_TOKEN_SAVING
#include "whittle/base/compiled_types.hpp"
