#pragma once

// Definitions of Summarization<M>; included by summarization.hpp.

#include "whittle/base/saturating.hpp"
#include "whittle/digest/noted.hpp"
#include "whittle/summarization/summarization.hpp"

#include <exception>
#include <span>

namespace whittle::inline v0 {

template <AgentMessage M>
void Summarization<M>::check(const ChainInfo& chain, Problems& problems) const {
    SummarizationSetup setup{.has_model = model_ != nullptr,
                             .has_finalize = static_cast<bool>(callbacks_.finalize),
                             .has_gen_model_input = static_cast<bool>(callbacks_.gen_model_input),
                             .has_user_message_filter = static_cast<bool>(callbacks_.user_message_filter)};
    for (const std::string_view other : chain.summarisers) {
        if (other == name_) break;
        ++setup.other_summarisers;
    }
    check_summarization(config_, chain.config, setup, name_, problems);
}

template <AgentMessage M>
std::int64_t Summarization<M>::count(Turn<M>& turn) const {
    if (!callbacks_.token_counter) return turn.context_tokens();
    return std::max<std::int64_t>(0, callbacks_.token_counter(turn.conversation, turn.request.tools));
}

/// What the trigger judges.
template <AgentMessage M>
FoldSizes Summarization<M>::triggers_of(Turn<M>& turn, std::int64_t tokens) const {
    const TriggerLimits limits = limits_of(config_.trigger, detail::known_window(turn));
    return {.context_tokens = tokens, .trigger_tokens = limits.tokens, .limit_messages = limits.messages};
}

template <AgentMessage M>
FoldSizes Summarization<M>::sizes_of(Turn<M>& turn, std::int64_t tokens) const {
    const ContextCount counted = turn.counted();
    FoldSizes sizes = triggers_of(turn, tokens);
    sizes.message_tokens = counted.estimate - counted.beside;
    sizes.beside_tokens = counted.beside;
    sizes.scale = counted.scale_to(tokens);
    return sizes;
}

/// Tells the report which condition judged.
template <AgentMessage M>
bool Summarization<M>::is_due(Turn<M>& turn, const FoldSizes& sizes) const {
    const auto messages = static_cast<std::int64_t>(turn.conversation.size());
    const bool by_tokens = sizes.trigger_tokens > 0 && sizes.context_tokens > sizes.trigger_tokens;
    const bool by_messages = sizes.limit_messages > 0 && messages > sizes.limit_messages;
    const bool shows_messages = !by_tokens && (by_messages || sizes.trigger_tokens <= 0);
    turn.report.count = shows_messages ? messages : sizes.context_tokens;
    turn.report.threshold = shows_messages ? sizes.limit_messages : sizes.trigger_tokens;
    turn.report.outcome = Outcome::undue;
    return by_tokens || by_messages;
}

template <AgentMessage M>
void Summarization<M>::before_model(Turn<M>& turn) {
    const std::int64_t tokens = count(turn);
    Notes notes = turn.notes();
    if (!is_due(turn, triggers_of(turn, tokens))) {
        notes.erase("retry_at_tokens");
        notes.erase("floor_told");
        notes.erase("rules_told");
        return;
    }
    turn.report.outcome = Outcome::remembered;
    if (tokens < notes.integer("retry_at_tokens").value_or(0)) return;
    const FoldSizes sizes = sizes_of(turn, tokens);
    Run run(turn, config_, callbacks_, sizes);
    if (may_try(turn, run, sizes)) fold(turn, run, sizes);
}

/// Says once what is in the way (rule "progress").
template <AgentMessage M>
bool Summarization<M>::may_try(Turn<M>& turn, const Run& run, const FoldSizes& sizes) const {
    Notes notes = turn.notes();
    if (run.is_over_floor()) {
        if (notes.integer("floor_told")) return false;
        notes.set("floor_told", std::int64_t{1});
        turn.report.outcome = Outcome::nothing;
        const std::string text = detail::describe_floor(sizes, run.plan(), turn.config.profile.output_reserve);
        turn.report.more().error = text;
        emit(turn.callbacks.on_event, {Event::Level::warning, name_, "irreducible", text, turn.conversation.id(),
                                       sizes.context_tokens, run.floor_tokens()});
        return false;
    }
    notes.erase("floor_told");
    if (run.is_pointless()) {
        turn.report.outcome = Outcome::nothing;
        wait_for_growth(turn, sizes, sizes.context_tokens);
        return false;
    }
    return true;
}

/// Makes the summary and commits it. Under OnError::skip a failure is reported and remembered here: what a hook throws
/// would take the note back.
template <AgentMessage M>
bool Summarization<M>::fold(Turn<M>& turn, Run& run, const FoldSizes& sizes) const {
    run.list_candidates();
    if (turn.config.dry_run) {
        turn.report.outcome = Outcome::planned;
        turn.report.more().tokens_before = sizes.message_tokens;
        turn.report.more().tokens_after = add_saturating(run.plan().kept_tokens, run.plan().tail_tokens);
        return false;
    }
    if (!fits_rules(turn, run, sizes)) return false;
    try {
        if (callbacks_.transcript) callbacks_.transcript->record(turn);
        return write_summary(turn, run, sizes);
    } catch (...) {
        if (turn.config.on_error == OnError::propagate || detail::ends_hook(turn.request.stop)) throw;
        report_failure(turn, sizes, {.message = detail::current_error_text()});
    }
    return false;
}

/// Whether a summary may stand there at all, found out before a model is paid for it.
template <AgentMessage M>
bool Summarization<M>::fits_rules(Turn<M>& turn, Run& run, const FoldSizes& sizes) const {
    try {
        run.rehearse();
        turn.notes().erase("rules_told");
        return true;
    } catch (const Error& error) {
        if (error.errc() != Errc::invalid_history) throw;
        turn.report.outcome = Outcome::nothing;
        turn.report.more().error = error.what();
        wait_for_growth(turn, sizes, sizes.context_tokens);
        if (turn.notes().integer("rules_told")) return false;
        turn.notes().set("rules_told", std::int64_t{1});
        const std::string text = std::string("no summary: ") + error.what();
        emit(turn.callbacks.on_event, {Event::Level::warning, name_, "no_valid_summary", text, turn.conversation.id(),
                                       sizes.context_tokens, sizes.trigger_tokens});
        return false;
    }
}

template <AgentMessage M>
bool Summarization<M>::write_summary(Turn<M>& turn, Run& run, const FoldSizes& sizes) const {
    Notes notes = turn.notes();
    run.tell(BeforeSummarize<M>{turn.conversation.messages()}, "before_summarize", "a summary is due");
    const detail::NotedDigest<M> digest =
        detail::go_on_with_digest<M>(notes, [&](DigestState& state) { return run.generate(*model_, state); });
    if (const auto& failure = digest.result.failure) {
        if (digest.is_unfinished)
            detail::report_unfinished(turn, digest.state, run.plan().folded.size());
        else
            report_failure(turn, sizes, *failure);
        return false;
    }
    std::vector<M> before;
    if (callbacks_.callback) before.assign(turn.conversation.messages().begin(), turn.conversation.messages().end());
    run.stage(digest.result.summary);
    const CommitResult commit = run.commit();
    if (!commit.committed()) {
        report_failure(turn, sizes, detail::not_smaller());
        return false;
    }
    report_success(turn, sizes, commit);
    tell_user(turn, before, turn.conversation.messages());
    run.tell(AfterSummarize<M>{turn.conversation.messages()}, "after_summarize", "the summary stands");
    return true;
}

/// A summary that frees little must not be due again at once. Asks no user's counter: the commit stands.
template <AgentMessage M>
void Summarization<M>::report_success(Turn<M>& turn, const FoldSizes& sizes, const CommitResult& result) const {
    const std::int64_t after = sizes.context_without(sub_saturating(result.tokens_before, result.tokens_after));
    const std::int64_t limit = sizes.trigger_tokens;
    const bool is_close = limit > 0 && add_saturating(after, cool_down_of(config_, limit)) > limit;
    const bool is_long =
        sizes.limit_messages > 0 && static_cast<std::int64_t>(turn.conversation.size()) > sizes.limit_messages;
    if (!is_close && !is_long) return turn.notes().erase("retry_at_tokens");
    wait_for_growth(turn, sizes, after);
    if (limit <= 0 || after <= limit) return;
    const std::string text = detail::describe_rest(after, limit);
    turn.report.more().error = text;
    emit(turn.callbacks.on_event, {Event::Level::warning, name_, "still_above_trigger", text, turn.conversation.id(),
                                   result.tokens_before, result.tokens_after});
}

/// What is thrown came from elsewhere and may not say what it ended; the event does.
template <AgentMessage M>
void Summarization<M>::report_failure(Turn<M>& turn, const FoldSizes& sizes, const DigestError& failure) const {
    const std::string message = name_ + ": write a summary: " + failure.message;
    if (turn.config.on_error == OnError::propagate) {
        detail::tell_failure(turn.callbacks.on_event, name_, turn.conversation.id(), message);
        std::rethrow_exception(detail::exception_of(failure, message));
    }
    wait_for_growth(turn, sizes, sizes.context_tokens);
    turn.report.outcome = Outcome::failed;
    turn.report.more().error = message;
    detail::tell_failure(turn.callbacks.on_event, name_, turn.conversation.id(), message);
}

template <AgentMessage M>
void Summarization<M>::wait_for_growth(Turn<M>& turn, const FoldSizes& sizes, std::int64_t tokens) const {
    const std::int64_t base = sizes.trigger_tokens > 0 ? sizes.trigger_tokens : tokens;
    turn.notes().set("retry_at_tokens", add_saturating(tokens, cool_down_of(config_, base)));
}

/// Under OnError::skip the summary stands, whatever the user's callback throws.
template <AgentMessage M>
void Summarization<M>::tell_user(Turn<M>& turn, std::span<const M> before, std::span<const M> after) const {
    if (!callbacks_.callback) return;
    try {
        callbacks_.callback(before, after);
    } catch (...) {
        if (turn.config.on_error == OnError::propagate) throw;
        const std::string text = "callback: " + detail::current_error_text();
        turn.report.more().error = text;
        detail::tell_failure(turn.callbacks.on_event, name_, turn.conversation.id(), text);
    }
}

/// The trigger is now what the model takes; without a known window, half of the request.
template <AgentMessage M>
bool Summarization<M>::on_overflow(Turn<M>& turn, const Overflow&) {
    const std::int64_t tokens = std::max<std::int64_t>(1, count(turn));
    const double scale = std::max(1.0, static_cast<double>(turn.report.count) / static_cast<double>(tokens));
    const auto fitting = to_int64(static_cast<double>(turn.report.threshold) / scale);
    FoldSizes sizes = sizes_of(turn, tokens);
    sizes.trigger_tokens = std::max<std::int64_t>(1, turn.report.threshold > 0 ? fitting : tokens / 2);
    sizes.limit_messages = 0;
    Run run(turn, config_, callbacks_, sizes);
    turn.report.outcome = Outcome::nothing;
    if (run.is_over_floor()) {
        turn.report.more().error = detail::describe_floor(sizes, run.plan(), turn.config.profile.output_reserve);
        return false;
    }
    return !run.is_pointless() && fold(turn, run, sizes);
}

/// The next summary starts at the first message that nothing keeps: what stands before it stays.
template <AgentMessage M>
std::size_t Summarization<M>::untouched_prefix(const Conversation<M>& conversation) const {
    if (callbacks_.finalize) return 0;
    const Outline outline = conversation.outline();
    std::size_t i = 0;
    const auto is_own_summary = [&](const MessageInfo& info) {
        return origin_of(info.mark) == Origin::summary && info.mark->by == name_;
    };
    const auto stays = [&](const MessageInfo& info) {
        return info.pinned || (info.role == Role::system && !is_own_summary(info));
    };
    while (i < outline.size() && stays(outline[i])) ++i;
    return i;
}

template <AgentMessage M>
std::vector<M> Summarization<M>::summarize(Conversation<M>& conversation, const ChainConfig& chain,
                                           const HookRequest<M>& request, const ChainCallbacks<M>& callbacks) const {
    Problems problems;
    check({chain, {}}, problems);
    problems.throw_if_errors("summarize");
    HookBudget budget = detail::budget_of(chain);
    StageReport report{.middleware = name_, .counter = chain.token_counter->id()};
    Turn<M> turn{conversation, chain, callbacks, request, budget, report, chain.language.value_or(default_language())};
    Run run(turn, config_, callbacks_, sizes_of(turn, count(turn)));
    const std::vector<M> before(conversation.messages().begin(), conversation.messages().end());
    if (run.is_pointless()) return before;
    run.rehearse();
    run.tell(BeforeSummarize<M>{MessageView<M>(before)}, "before_summarize", "a summary was asked for");
    DigestState state;
    const DigestResult<M> result = run.generate(*model_, state);
    if (result.failure)
        std::rethrow_exception(
            detail::exception_of(*result.failure, name_ + ": write a summary: " + result.failure->message));
    run.stage(result.summary);
    const MessageView<M> view = run.edit().messages();
    std::vector<M> after(view.begin(), view.end());
    tell_user(turn, before, after);
    run.tell(AfterSummarize<M>{MessageView<M>(after)}, "after_summarize", "the summary is made");
    return after;
}

}  // namespace whittle::inline v0
