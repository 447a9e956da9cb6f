#pragma once

#include "whittle/base/clock.hpp"
#include "whittle/base/language.hpp"
#include "whittle/base/platform.hpp"
#include "whittle/base/random.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/chain/middleware.hpp"
#include "whittle/conversation/detail/edit_environment.hpp"
#include "whittle/conversation/report.hpp"
#include "whittle/message/detail/message_view.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/summary/config.hpp"
#include "whittle/summary/detail/attempt.hpp"
#include "whittle/summary/detail/chunks.hpp"
#include "whittle/summary/detail/outcome.hpp"
#include "whittle/tokens/counter.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// What is to be summarized. A view.
template <AgentMessage M>
struct SummaryGenerationTask {
    Model<M>& model;                      ///< writes the summary
    MessageView<M> all_messages;          ///< may hold more than what is folded
    Outline outline;                      ///< of `all_messages`
    std::span<const std::size_t> fold{};  ///< indices of the messages to fold, ascending; not empty
    std::int64_t replaced_tokens = 0;     ///< the summary must have fewer; 0: what the folded messages have
    /// The caller's own test of a cleaned summary, for example of its size with everything that goes with it. Empty:
    /// accepted; else the reason, and the attempt has failed. Not asked for parts.
    std::function<std::string(std::string_view)> rejection_reason{};
    /// Sent with a `gen_model_input` request (and counted), so that the provider's cache of the agent's own prefix is
    /// hit.
    std::string_view agent_system{};
    std::span<const ToolSpec> agent_tools{};  ///< likewise
    bool thinking_prefix_edited =
        false;  ///< goes with `agent_system` and `agent_tools`: `ModelRequest::thinking_prefix_edited`
};

/// What generating a summary works with. Pointers are not owned; null where marked.
struct SummaryGenerationEnvironment {
    std::shared_ptr<const TokenCounter> counter = chars_counter();  ///< measures requests and summaries
    std::shared_ptr<Clock> clock = system_clock();                  ///< waits between attempts
    std::shared_ptr<Random> random = system_random();               ///< of the jitter
    StopToken stop{};                                               ///< ends it with Error(cancelled)
    HookBudget* budget = nullptr;                                   ///< obeyed and counted down; null: no bounds
    StageReport* report = nullptr;  ///< gets a `ModelCallReport` for each call; null: none
    std::string purpose{};          ///< `ModelRequest::purpose`; never empty in a middleware
    // What callbacks are told beside `stop` (`CallbackContext`).
    std::string conversation_id{};          ///< of the conversation
    Serial round_serial = 0;                ///< of the conversation's newest round; 0: none
    std::span<const ToolSpec> tools{};      ///< of the agent
    Language language = Language::english;  ///< of what the library itself says to the model
};

/// The environment of a hook; `what` completes the purpose: "{middleware}: {what}".
template <AgentMessage M>
[[nodiscard]] SummaryGenerationEnvironment summary_generation_environment(Turn<M>& turn,
                                                                          std::string_view what = "summary") {
    const CallbackContext context = turn.callback_context();
    return {.counter = turn.config.token_counter,
            .clock = turn.config.clock,
            .random = turn.config.random,
            .stop = turn.request.stop,
            .budget = &turn.budget,
            .report = &turn.report,
            .purpose = std::string(turn.report.middleware).append(": ").append(what),
            .conversation_id = std::string(context.conversation_id),
            .round_serial = context.round_serial,
            .tools = context.tools,
            .language = turn.language};
}

/// `SummaryGenerationOutcome` with the reply that it was made of.
template <AgentMessage M>
struct SummaryGenerationResult : SummaryGenerationOutcome {
    std::optional<Reply<M>> last_response{};  ///< the last reply, accepted or not
};

/// Turns the messages into one accepted text, or says why not. Edits nothing. `state` is updated after each accepted
/// part and cleared on success. Throws Error(cancelled) as soon as a stop is asked for, Error(invalid_argument) for an
/// empty fold, and std::bad_alloc; everything else is in the result. One thread.
template <AgentMessage M>
[[nodiscard]] SummaryGenerationResult<M> generate_summary(const SummaryGenerationTask<M>& task,
                                                          const SummaryGenerationConfig& config,
                                                          const SummaryGenerationCallbacks<M>& callbacks,
                                                          const SummaryGenerationEnvironment& environment,
                                                          SummaryGenerationState& state);

}  // namespace whittle::inline v0
