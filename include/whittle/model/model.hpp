#pragma once

#include "whittle/base/clock.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/platform.hpp"
#include "whittle/message/part.hpp"
#include "whittle/message/traits.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0 {

/// Why a reply ended.
enum class FinishReason {
    stop,
    tool_calls,
    length,  ///< the output limit cut it off
    refusal,
    paused,  ///< the provider will go on when it is asked again with this reply at the end (Anthropic: pause_turn)
    other,
};

/// A piece of a reply as it arrives. The views are valid only during the call.
struct Delta {
    /// What a piece is of.
    enum class Kind { text, thinking, tool_arguments };
    Kind kind = Kind::text;      ///< what it is a piece of
    std::string_view text{};     ///< the piece itself
    std::string_view call_id{};  ///< tool_arguments
    std::string_view tool{};     ///< tool_arguments: name of the tool
};

/// Gets the pieces of a streaming reply, on the thread that called `generate`. What it throws ends the call.
using DeltaSink = std::function<void(const Delta&)>;

/// What a caller asks of one generation beside its messages.
struct GenerateOptions {
    std::int64_t max_output_tokens = 0;   ///< tokens of a reply at most; 0: the model's own limit
    std::optional<double> temperature{};  ///< sampling temperature. Absent: the model's own
    std::string extra{};                  ///< provider-specific fields of the request, as one JSON object. Empty: none

    friend bool operator==(const GenerateOptions&, const GenerateOptions&) = default;
};

/// One model call. A view: nothing is owned.
template <AgentMessage M>
struct ModelRequest {
    std::span<const M> messages{};        ///< in order, without the system text beside them
    std::string_view system{};            ///< system text that stands beside the messages
    std::span<const ToolSpec> tools{};    ///< that the model may call
    StopToken stop{};                     ///< asked for by the caller: the call ends with class cancelled
    const DeltaSink* on_delta = nullptr;  ///< null: no streaming asked for
    /// Empty for the agent's own call; else which middleware asks, and for what. A reply to a call with a purpose is
    /// not for the user: a host never streams it to them.
    std::string_view purpose{};
    const GenerateOptions* options = nullptr;  ///< null: the model's own settings
    /// Thinking in the messages may be bound to a prefix that was edited since: a backend for such a provider asks it
    /// to pass over thinking that does not fit (docs/message.md).
    bool thinking_prefix_edited = false;
    /// Says how many messages at the front nothing plans to change: a prompt-cache mark can stand behind them. Only for
    /// backends that place such marks, since asking takes time in proportion to the messages. Null: not known.
    const std::function<std::size_t()>* count_stable_messages = nullptr;
};

/// How long a server took over one reply. Tokens and milliseconds; llama-server tells them as `timings`.
struct ServerTiming {
    std::int64_t prefill_tokens = 0;  ///< read anew for this reply
    double prefill_ms = 0.0;          ///< for `prefill_tokens`
    std::int64_t cached_tokens = 0;   ///< kept from requests before
    std::int64_t output_tokens = 0;   ///< of the reply
    double output_ms = 0.0;           ///< for `output_tokens`

    friend bool operator==(const ServerTiming&, const ServerTiming&) = default;
};

/// What came of one model call.
template <AgentMessage M>
struct Reply {
    M message;                                 ///< the assistant's message
    std::optional<Usage> usage{};              ///< as the provider billed it; absent if it did not say
    FinishReason finish = FinishReason::stop;  ///< why it ended
    std::optional<ServerTiming> timing{};      ///< absent if the server did not say
};

/// What kind of failure a model call met: decides on retry, failover, compaction or giving up.
enum class ModelErrorClass { overflow, rate_limit, auth, server, bad_request, refusal, transport, cancelled };

/// "overflow", "rate_limit", ...
[[nodiscard]] std::string_view to_string(ModelErrorClass error_class) noexcept;

/// The request was larger than the model's window. 0 where the provider did not say.
struct Overflow {
    std::int64_t context_limit_tokens = 0;  ///< tokens that the model takes
    std::int64_t requested_tokens = 0;      ///< tokens that the request had
};

/// A model call that failed. Its `errc()` is model_failed, or cancelled for that class.
class ModelError : public Error {
public:
    ModelError(ModelErrorClass error_class, std::string message);
    ModelError(Overflow overflow, std::string message);
    ModelError(std::chrono::milliseconds retry_after, std::string message);  ///< rate_limit
    /// An overloaded server, too, may say how long to wait.
    ModelError(ModelErrorClass error_class, std::optional<std::chrono::milliseconds> retry_after, std::string message);

    /// What kind of failure it was.
    [[nodiscard]] ModelErrorClass error_class() const noexcept { return class_; }
    /// What the provider said of sizes; both 0 if it was no overflow, or did not say.
    [[nodiscard]] Overflow overflow() const noexcept { return overflow_; }
    /// How long the provider asks to wait; absent if it did not say.
    [[nodiscard]] std::optional<std::chrono::milliseconds> retry_after() const noexcept { return retry_after_; }

private:
    ModelErrorClass class_;
    Overflow overflow_{};
    std::optional<std::chrono::milliseconds> retry_after_{};
};

/// A chat model. Thread-safe if it is used by several conversations at once.
template <AgentMessage M>
class Model {
public:
    virtual ~Model() = default;
    /// Blocks until the reply is complete. Throws `ModelError`; a stop gives class cancelled.
    virtual Reply<M> generate(const ModelRequest<M>& request) = 0;
};

/// What a caller asks of a `TextModel`.
struct TextOptions {
    std::int64_t max_output_tokens = 0;  ///< 0: the model's own limit
    std::string purpose{};               ///< which middleware asks, and for what
};

/// What came of a `TextModel`'s call.
struct TextReply {
    std::string text{};                        ///< the answer
    std::optional<Usage> usage{};              ///< as billed; absent if the provider did not say
    FinishReason finish = FinishReason::stop;  ///< why it ended
};

/// The simplest model interface: text in, text out. What summarizers and classifiers need.
class TextModel {
public:
    virtual ~TextModel() = default;
    /// Blocks until the answer is complete. Throws `ModelError`; a stop gives class cancelled.
    virtual TextReply complete(std::string_view system, std::string_view prompt, const TextOptions& options,
                               StopToken stop) = 0;
};

/// A `TextModel` over a chat model: the prompt is one user message.
template <AgentMessage M>
[[nodiscard]] std::shared_ptr<TextModel> as_text_model(std::shared_ptr<Model<M>> model) {
    class Adapter final : public TextModel {
    public:
        explicit Adapter(std::shared_ptr<Model<M>> model) : model_(std::move(model)) {}
        TextReply complete(std::string_view system, std::string_view prompt, const TextOptions& options,
                           StopToken stop) override {
            const M message = message_traits<M>::make(Role::user, prompt);
            const GenerateOptions generate{.max_output_tokens = options.max_output_tokens};
            Reply<M> reply = model_->generate({.messages = {&message, 1},
                                               .system = system,
                                               .stop = std::move(stop),
                                               .purpose = options.purpose,
                                               .options = &generate});
            return {text_of(reply.message), reply.usage, reply.finish};
        }

    private:
        std::shared_ptr<Model<M>> model_;
    };
    return std::make_shared<Adapter>(std::move(model));
}

}  // namespace whittle::inline v0
