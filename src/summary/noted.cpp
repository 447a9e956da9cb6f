#include "noted.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/base/event.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

std::int64_t trigger_after_overflow(const HookTurn& turn, std::int64_t tokens) noexcept {
    const double ratio =
        static_cast<double>(tokens) / static_cast<double>(std::max<std::int64_t>(1, turn.report.count));
    return std::max<std::int64_t>(1, to_int64(static_cast<double>(turn.report.threshold) * ratio));
}

NotedDigest go_on_with_digest(Notes notes, FunctionRef<DigestOutcome(DigestState&)> generate) {
    const DigestState start = digest_state_from(notes.text("digest").value_or(std::string_view{}));
    NotedDigest digest{.state = start};
    digest.result = generate(digest.state);
    if (digest.state == DigestState{}) {
        notes.erase("digest");
    } else {
        notes.set("digest", to_text(digest.state));
    }
    const bool has_progress = digest.state != start && digest.state != DigestState{};
    const bool is_out_of_budget = digest.result.failure && digest.result.failure->failure == DigestFailure::budget;
    digest.is_unfinished = is_out_of_budget && (has_progress || digest.result.model_calls == 0);
    return digest;
}

DigestError commit_failure(const CommitResult& commit) {
    if (commit.outcome == Outcome::store_failed)
        return {.message = "the originals could not be stored", .thrown = commit.store_error};
    return {.failure = DigestFailure::refused,
            .refusal = Refusal::not_smaller,
            .message = "the new list is not smaller than the old one"};
}

void report_unfinished(HookTurn& turn, const DigestState& state, std::size_t messages) {
    turn.notes().erase("retry_at_tokens");
    turn.report.outcome = Outcome::nothing;
    const std::string text = fmt::format(
        "summary not finished: {} of {} messages are read, the hook's model calls or time are used up; the next hook "
        "goes on",
        state.next_message, messages);
    turn.report.more().error = text;
    emit(turn.on_event, {Event::Level::info, turn.report.middleware, "unfinished", text, turn.conversation_id()});
}

void report_failure(HookTurn& turn, const DigestError& failure, bool is_thrown, std::int64_t retry_at_tokens) {
    const std::string_view name = turn.report.middleware;
    const std::string message = fmt::format("{}: write a summary: {}", name, failure.message);
    if (is_thrown) {
        tell_failure(turn.on_event, name, turn.conversation_id(), message);
        std::rethrow_exception(exception_of(failure, message));
    }
    turn.notes().set("retry_at_tokens", retry_at_tokens);
    turn.report.outcome = Outcome::failed;
    turn.report.more().error = message;
    tell_failure(turn.on_event, name, turn.conversation_id(), message);
}

}  // namespace whittle::inline v0::detail
