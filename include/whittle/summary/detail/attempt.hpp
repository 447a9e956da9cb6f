#pragma once

#include "whittle/base/error.hpp"
#include "whittle/base/platform.hpp"
#include "whittle/conversation/detail/callback_context.hpp"
#include "whittle/message/detail/message_view.hpp"
#include "whittle/model/model.hpp"
#include "whittle/summary/config.hpp"

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// Which model an attempt asked: the configured one, or one that `get_failover_model` gave.
enum class SummaryPhase { primary, failover };

/// "primary" or "failover", for logs.
[[nodiscard]] std::string_view to_string(SummaryPhase phase) noexcept;

/// Why there is no summary.
enum class SummaryFailure {
    model,         ///< the model threw; `SummaryError::model_error` has its class
    refused,       ///< the reply is no summary; `SummaryError::refusal` says why
    does_not_fit,  ///< a request could not be made small enough; no call was made for it
    budget,    ///< the hook's model calls or time are used up; parts that are done stay in the `SummaryGenerationState`
    callback,  ///< a user's callback threw
};

/// Why a reply is no summary.
enum class Refusal {
    empty,        ///< nothing, or only white space, signs, or a word such as null, after cleaning
    cut_off,      ///< finish reason length or paused, or a heading with nothing behind it
    refusal,      ///< the model would not
    tool_call,    ///< it called a tool
    error_text,   ///< the text of an error instead of a summary
    echo,         ///< the prompt itself
    too_long,     ///< above a million bytes or `max_summary_tokens`
    not_smaller,  ///< at least as large as what it replaces
    wrong_role,   ///< not an assistant's message
    greeting,     ///< a greeting, a question to the user, an assent
    unrelated,    ///< it names nothing of the many names in what it replaces
    invented,     ///< many of its names stand nowhere in what it replaces
    by_caller,    ///< `SummaryGenerationTask::rejection_reason` said no
};

/// The name of the value, for logs and errors.
[[nodiscard]] std::string_view to_string(SummaryFailure failure) noexcept;
[[nodiscard]] std::string_view to_string(Refusal refusal) noexcept;

/// Why an attempt, or the whole generation, failed.
struct SummaryError {
    SummaryFailure failure = SummaryFailure::model;          ///< what failed
    std::optional<ModelErrorClass> model_error{};            ///< failure model, where the model named a class
    std::optional<Refusal> refusal{};                        ///< failure refused
    std::string message{};                                   ///< for a person
    std::optional<std::chrono::milliseconds> retry_after{};  ///< rate_limit, where the provider said it
    Overflow overflow{};                                     ///< class overflow
    std::exception_ptr thrown{};                             ///< what the model or a callback threw; null: nothing

    /// Leaves out the wait, the overflow and what was thrown.
    friend bool operator==(const SummaryError& a, const SummaryError& b) {
        return a.failure == b.failure && a.model_error == b.model_error && a.refusal == b.refusal &&
               a.message == b.message;
    }
};

namespace detail {
/// What a failed generation is thrown as: what the model or a callback threw, as it came, else an Error with `text`.
[[nodiscard]] std::exception_ptr exception_of(const SummaryError& failure, const std::string& text);
/// Whether the exception in flight, or a stop, ends the hook: a stop is no failure, and memory is nobody's to swallow.
[[nodiscard]] bool ends_hook(const StopToken& stop) noexcept;
/// No further attempt with the same input can help; smaller pieces can.
[[nodiscard]] bool is_too_large(const SummaryError& failure) noexcept;
}  // namespace detail

/// One model call for a summary and what came of it. The pointers are valid during the callback only.
template <AgentMessage M>
struct Attempt : CallbackContext {
    int number = 1;                              ///< from 1, in its phase and for its chunk
    SummaryPhase phase = SummaryPhase::primary;  ///< which model was asked
    const Reply<M>* response = nullptr;          ///< null: the model gave none
    const SummaryError* error = nullptr;         ///< null: accepted
};

/// Asked after each attempt of the first model. What they throw ends the generation (failure callback).
template <AgentMessage M>
struct RetryCallbacks {
    std::function<bool(const Attempt<M>&)> should_retry{};  ///< default: if there is an error
    /// Default: `default_backoff`. A provider's longer `retry_after` is obeyed in either case.
    std::function<std::chrono::milliseconds(const Attempt<M>&)> backoff{};
};

/// All messages that a summary was ordered of, as they stand there, and those of them that it folds. A view.
template <AgentMessage M>
class OriginalMessages : public MessageView<M> {
public:
    /// Both are borrowed.
    OriginalMessages(MessageView<M> all, MessageView<M> folded) noexcept : MessageView<M>(all), folded_(folded) {}

    /// Those that the summary replaces.
    [[nodiscard]] const MessageView<M>& folded() const noexcept { return folded_; }

private:
    MessageView<M> folded_;
};

/// What `get_failover_model` can see. Valid during the call.
template <AgentMessage M>
struct FailoverContext : CallbackContext {
    int attempt = 1;                           ///< from 1
    const M& system_instruction;               ///< the first message of the default input
    const M& user_instruction;                 ///< the last message of it
    OriginalMessages<M> originals;             ///< all messages; those to fold are `originals.folded()`
    const Reply<M>* last_response = nullptr;   ///< of the last attempt; null if it gave none
    const SummaryError* last_error = nullptr;  ///< of the last attempt; null if its reply was accepted
};

/// The model of one failover attempt.
template <AgentMessage M>
struct FailoverModel {
    std::shared_ptr<Model<M>> model{};  ///< null: the attempt, and with it the summary, fails
    /// Empty: the default input. Else it stands for everything that is folded, not for the chunk at hand: the reply to
    /// it is the whole summary. Not chunked.
    std::vector<M> input{};
    std::int64_t max_input_tokens = 0;  ///< 0: that of the configuration
};

/// After the first model's last attempt: whether, when and whom to ask next.
template <AgentMessage M>
struct FailoverCallbacks {
    /// Asked before the first failover attempt (with the last attempt of the first model) and after each of its own.
    /// Default: if there is an error.
    std::function<bool(const Attempt<M>&)> should_failover{};
    std::function<std::chrono::milliseconds(const Attempt<M>&)> backoff{};  ///< between failover attempts
    /// Absent: the first model with the default input.
    std::function<FailoverModel<M>(const FailoverContext<M>&)> get_failover_model{};
};

namespace detail {
/// Failover attempts ask that model; null: the first one.
template <AgentMessage M>
[[nodiscard]] FailoverCallbacks<M> failover_to(std::shared_ptr<Model<M>> model) {
    FailoverCallbacks<M> callbacks;
    if (model)
        callbacks.get_failover_model = [model = std::move(model)](const FailoverContext<M>&) {
            return FailoverModel<M>{model};
        };
    return callbacks;
}
}  // namespace detail

/// (context, system instruction, user instruction, all messages) -> the model's input.
template <AgentMessage M>
using GenModelInput =
    std::function<std::vector<M>(const CallbackContext&, const M&, const M&, const OriginalMessages<M>&)>;

/// A user's functions for generating a summary.
template <AgentMessage M>
struct SummaryGenerationCallbacks {
    RetryCallbacks<M> retry{};        ///< of the first model
    FailoverCallbacks<M> failover{};  ///< after the first model's attempts
    /// Instead of the built-in input. Messages to fold are `folded()` of the last argument. Not chunked: what does not
    /// fit `max_input_tokens` is a failed attempt.
    GenModelInput<M> gen_model_input{};
    std::function<void(const Attempt<M>&)> on_generate{};  ///< after each attempt; what it throws is dropped
};

}  // namespace whittle::inline v0
