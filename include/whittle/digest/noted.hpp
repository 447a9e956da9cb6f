#pragma once

#include "whittle/chain/notes.hpp"
#include "whittle/chain/turn.hpp"
#include "whittle/digest/chunks.hpp"
#include "whittle/digest/digest.hpp"

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// A digest over several hooks: what came of this one.
template <AgentMessage M>
struct NotedDigest {
    DigestResult<M> result{};
    DigestState state{};         ///< what the next hook goes on with
    bool is_unfinished = false;  ///< the failure is only that the hook's calls or time are used up
};

/// Calls `generate(state)` with the state that an earlier hook left in the note "digest", and leaves the new one there.
/// A hook whose own calls all failed has made no progress: that is a failure; one that could make none is not.
template <AgentMessage M, typename Generate>
[[nodiscard]] NotedDigest<M> go_on_with_digest(Notes notes, Generate&& generate) {
    const DigestState start = digest_state_from(notes.text("digest").value_or(std::string_view{}));
    NotedDigest<M> digest{.state = start};
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

/// The failure of a summary that makes nothing smaller.
[[nodiscard]] DigestError not_smaller();
/// The failure of a summary whose originals no store took; `thrown`: by the store.
[[nodiscard]] DigestError not_stored(std::exception_ptr thrown);

/// How far a digest of `messages` messages is that the next hook goes on with.
[[nodiscard]] std::string describe_unfinished(const DigestState& state, std::size_t messages);

/// Says so. No failure, also where failures are thrown: a throw would take back the notes that the next hook goes on
/// with.
template <AgentMessage M>
void report_unfinished(Turn<M>& turn, const DigestState& state, std::size_t messages) {
    turn.notes().erase("retry_at_tokens");
    turn.report.outcome = Outcome::nothing;
    const std::string text = describe_unfinished(state, messages);
    turn.report.more().error = text;
    emit(turn.callbacks.on_event,
         {Event::Level::info, turn.report.middleware, "unfinished", text, turn.conversation.id()});
}

}  // namespace whittle::inline v0::detail
