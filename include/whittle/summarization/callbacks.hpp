#pragma once

#include "whittle/conversation/conversation.hpp"
#include "whittle/summarization/detail/finalizer.hpp"
#include "whittle/summarization/detail/preserved.hpp"
#include "whittle/summarization/detail/transcript.hpp"
#include "whittle/summary/detail/attempt.hpp"
#include "whittle/summary/detail/summary_functions.hpp"
#include "whittle/summary/detail/work_state.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace whittle::inline v0 {

// Internal events. Views: valid during the call.

/// A summary is due; no model was asked yet.
template <AgentMessage M>
struct BeforeSummarize {
    MessageView<M> all_messages;  ///< of the conversation, as they are
};

/// A model was asked, and this came of it.
template <AgentMessage M>
struct GenerateSummary {
    int attempt = 1;                             ///< from 1, in its phase
    SummaryPhase phase = SummaryPhase::primary;  ///< of the attempts
    const Reply<M>* response = nullptr;          ///< null: the model gave none
    const SummaryError* error = nullptr;         ///< null: accepted
};

/// The summary stands in the conversation.
template <AgentMessage M>
struct AfterSummarize {
    MessageView<M> messages;  ///< of the conversation, with the summary
};

/// What a host is told of a summary, in this order.
template <AgentMessage M>
using SummarizationEvent = std::variant<BeforeSummarize<M>, GenerateSummary<M>, AfterSummarize<M>>;

/// What takes a message type.
template <AgentMessage M = ChatMessage>
struct SummarizationCallbacks {
    /// Instead of the chain's count; below 0 counts as 0.
    std::function<std::int64_t(const CallbackContext&, const Conversation<M>&)> token_counter{};
    /// (context, system instruction, user instruction, all messages) -> the model's input. Those to fold are `folded()`
    /// of the last: the others stay in the list. Not chunked: what does not fit is a failed attempt.
    GenModelInput<M> gen_model_input{};
    /// Makes the whole new list from the originals and the summary, instead of all built-in post-processing. May drop
    /// what is pinned; the rules of the validity profile are still checked.
    Finalize<M> finalize{};
    /// (context, before, after), once the summary is in place. What it throws is reported under OnError::skip, and the
    /// summary stands; under OnError::propagate it is thrown, and everything is as before the hook.
    std::function<void(const CallbackContext&, std::span<const M>, std::span<const M>)> callback{};
    UserMessageFilter<M> user_message_filter{};  ///< of `preserve_user_messages`
    /// Gives the files that it gets, those used last in front, as they are now; what is not there any more is left out.
    /// They stand in a message behind the summary, within `attach_files` of the configuration. Asked once for a
    /// summary.
    std::function<std::vector<AttachedFile>(const CallbackContext&, std::span<const FileUse>)> attach_files{};
    /// Takes what is about to be folded, `folded()` of the messages, into a memory of the host's. Before a model is
    /// asked, in each hook that asks one; if it throws, nothing is folded.
    std::function<void(const CallbackContext&, const OriginalMessages<M>&)> flush_memory{};
    /// For a summary that is prepared (`prepare_at_trigger_fraction`). The library starts no thread. Model, `retry` and
    /// `failover` are called on that thread then, beside the agent's own calls.
    SummaryExecutor prepare_executor{};
    RetryCallbacks<M> retry{};        ///< used if `retry` is configured
    FailoverCallbacks<M> failover{};  ///< used if `failover` is configured
    /// With `emit_internal_events`: before_summarize, generate_summary, after_summarize; what it throws is dropped.
    std::function<void(const CallbackContext&, const SummarizationEvent<M>&)> on_internal_event{};
    /// Written before anything is folded; if that fails, nothing is. Its path is told to the model if
    /// `transcript_file_path` names none.
    std::shared_ptr<Transcript<M>> transcript{};
};

}  // namespace whittle::inline v0
