#pragma once

#include "whittle/base/detail/callback_slot.hpp"
#include "whittle/conversation/conversation.hpp"
#include "whittle/digest/detail/attempt.hpp"
#include "whittle/summarization/detail/finalizer.hpp"
#include "whittle/summarization/detail/transcript.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace whittle::inline v0 {

// Internal events. Views: valid during the call.

/// A summary is due; no model was asked yet.
template <AgentMessage M>
struct BeforeSummarize {
    MessageView<M> messages;
};

/// A model was asked, and this came of it.
template <AgentMessage M>
struct GenerateSummary {
    int attempt = 1;  ///< from 1, in its phase
    DigestPhase phase = DigestPhase::primary;
    const Reply<M>* response = nullptr;  ///< null: the model gave none
    const DigestError* error = nullptr;  ///< null: accepted
};

/// The summary stands in the conversation.
template <AgentMessage M>
struct AfterSummarize {
    MessageView<M> messages;
};

template <AgentMessage M>
using SummarizationEvent = std::variant<BeforeSummarize<M>, GenerateSummary<M>, AfterSummarize<M>>;

namespace detail::summarization_callback {
struct token_counter;
struct gen_model_input;
struct finalize;
struct callback;
struct user_message_filter;
struct on_internal_event;
}  // namespace detail::summarization_callback

/// What takes a message type.
template <AgentMessage M = ChatMessage>
struct SummarizationCallbacks {
    /// Instead of the chain's count; below 0 counts as 0.
    detail::Callback<detail::summarization_callback::token_counter,
                     std::int64_t(const Conversation<M>&, std::span<const ToolSpec>)>
        token_counter{};
    /// (system instruction, user instruction, all messages) -> the model's input. Those to fold are `folded()` of the
    /// third: the others stay in the list. Not chunked: what does not fit is a failed attempt.
    detail::Callback<detail::summarization_callback::gen_model_input,
                     std::vector<M>(const M&, const M&, const OriginalMessages<M>&)>
        gen_model_input{};
    /// Makes the whole new list from the originals and the summary, instead of all built-in post-processing. May drop
    /// what is pinned; the rules of the validity profile are still checked.
    detail::CallbackSlot<detail::summarization_callback::finalize, Finalize<M>> finalize{};
    /// (before, after), once the summary is in place. What it throws is reported under OnError::skip, and the summary
    /// stands; under OnError::propagate it is thrown, and everything is as before the hook.
    detail::Callback<detail::summarization_callback::callback, void(std::span<const M>, std::span<const M>)> callback{};
    /// Of `preserve_user_messages`.
    detail::CallbackSlot<detail::summarization_callback::user_message_filter, UserMessageFilter<M>>
        user_message_filter{};
    RetryCallbacks<M> retry{};        ///< used if `retry` is configured
    FailoverCallbacks<M> failover{};  ///< used if `failover` is configured
    /// With `emit_internal_events`: before_summarize, generate_summary, after_summarize; what it throws is dropped.
    detail::Callback<detail::summarization_callback::on_internal_event, void(const SummarizationEvent<M>&)>
        on_internal_event{};
    /// Written before anything is folded; if that fails, nothing is. Its path is told to the model if
    /// `transcript_file_path` names none.
    std::shared_ptr<Transcript<M>> transcript{};
};

}  // namespace whittle::inline v0
