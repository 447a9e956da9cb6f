#include "summary_attempt.hpp"
#include "whittle/base/event.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

namespace whittle::inline v0::detail {

std::int64_t trigger_after_overflow(const HookTurn& turn, std::int64_t tokens) noexcept {
    const double ratio =
        static_cast<double>(tokens) / static_cast<double>(std::max<std::int64_t>(1, turn.report.count));
    return std::max<std::int64_t>(1, to_int64(static_cast<double>(turn.report.threshold) * ratio));
}

void SummaryAttempt::warn(std::string_view kind, const std::string& text, std::int64_t before, std::int64_t after) {
    emit(turn_.on_event,
         {Event::Level::warning, turn_.report.middleware, kind, text, turn_.conversation_id(), before, after});
}

AttemptResult SummaryAttempt::report_planned() {
    turn_.report.outcome = Outcome::planned;
    turn_.report.ensure_details().tokens_before = work_.edit.tokens_before();
    turn_.report.ensure_details().tokens_after = fold_.expected_tokens();
    return AttemptResult::nothing;
}

/// The host is asked again once there is more to lose.
AttemptResult SummaryAttempt::report_veto() {
    cooldown_.wait_for(grown(work_.sizes.context_tokens));
    turn_.report.outcome = Outcome::vetoed;
    return AttemptResult::nothing;
}

AttemptResult SummaryAttempt::report_invalid(const std::string& broken) {
    cooldown_.wait_for(grown(work_.sizes.context_tokens));
    turn_.report.outcome = Outcome::nothing;
    turn_.report.ensure_details().error = broken;
    warn("no_valid_summary", broken, work_.sizes.context_tokens, work_.sizes.trigger_tokens);
    return AttemptResult::impossible;
}

/// What is thrown came from elsewhere and may not say what it ended; the event does.
AttemptResult SummaryAttempt::report_failure(const SummaryError& failure) {
    const std::string_view name = turn_.report.middleware;
    const std::string message = fmt::format("{}: write a summary: {}", name, failure.message);
    emit_failure(turn_.on_event, name, turn_.conversation_id(), message);
    if (work_.is_thrown) std::rethrow_exception(exception_of(failure, message));
    cooldown_.wait_for(grown(work_.sizes.context_tokens));
    turn_.report.outcome = Outcome::failed;
    turn_.report.ensure_details().error = message;
    return AttemptResult::nothing;
}

/// A summary by rule that gains nothing is no failure: nobody was asked.
AttemptResult SummaryAttempt::report_plain_failure(const SummaryError& failure) {
    cooldown_.wait_for(grown(work_.sizes.context_tokens));
    turn_.report.outcome = Outcome::nothing;
    turn_.report.ensure_details().error = "no summary: " + failure.message;
    return AttemptResult::impossible;
}

/// No failure, also where failures are thrown: a throw would take back the notes that the next hook goes on with.
AttemptResult SummaryAttempt::report_unfinished(const Progress& progress) {
    cooldown_.end();
    turn_.report.outcome = Outcome::nothing;
    const std::string text = fmt::format(
        "summary not finished: {} of {} messages are read, the hook's model calls or time are used up; the next hook "
        "goes on",
        progress.messages_read, fold_.plan().folded.size());
    turn_.report.ensure_details().error = text;
    emit(turn_.on_event, {Event::Level::info, turn_.report.middleware, "unfinished", text, turn_.conversation_id()});
    return progress.outcome.model_calls == 0 ? AttemptResult::no_call : AttemptResult::nothing;
}

/// A summary that frees little must not be due again at once. No counter of the user's is called, since what it
/// threw would undo a commit that stands.
void SummaryAttempt::report_success(const CommitResult& result) {
    const FoldSizes& sizes = work_.sizes;
    const std::int64_t after = sizes.context_without(sub_saturating(result.tokens_before, result.tokens_after));
    const std::int64_t limit = sizes.trigger_tokens;
    const std::size_t messages = turn_.outline().size();
    const bool is_close = work_.waits_near_trigger && limit > 0 && grown(after) > limit;
    const bool is_long = sizes.limit_messages > 0 && static_cast<std::int64_t>(messages) > sizes.limit_messages;
    if (is_close || is_long) {
        cooldown_.wait_for(grown(after));
    } else {
        cooldown_.end();
    }
    const bool is_above = limit > 0 && after > limit;
    const bool needs_both = work_.needs_all && limit > 0 && sizes.limit_messages > 0;
    if (needs_both ? !is_above || !is_long : !is_above && !is_long) return;
    turn_.warn_above_trigger(
        is_above ? fmt::format("after the summary the request still has {} tokens, the trigger is {}", after, limit)
                 : fmt::format("after the summary there are still {} messages, the trigger is {}", messages,
                               sizes.limit_messages),
        sizes.context_tokens, after);
}

}  // namespace whittle::inline v0::detail
