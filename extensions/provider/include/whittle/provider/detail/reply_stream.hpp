#pragma once

#include "whittle/model/model.hpp"
#include "whittle/provider/detail/json_tree.hpp"
#include "whittle/provider/http_transport.hpp"
#include "whittle/provider/sse_parser.hpp"

#include <optional>
#include <string_view>
#include <utility>

/// What a reply comes to, whole or as a stream, whatever the format.
namespace whittle::inline v0::detail {

/// Throws the ModelError "read the reply: {reason}".
[[noreturn]] void fail_reply(ModelErrorClass error_class, std::string_view reason);

/// Throws the ModelError that `error` means, a text which came with status 200.
[[noreturn]] void fail_answered(std::string_view error, const HttpHeaders& headers);

/// A reply of the assistant. Throws ModelError: overflow if it ended because the window was full, server if `message`
/// is none.
template <AgentMessage M>
[[nodiscard]] Reply<M> reply_of(ordered_json message, std::string_view reason, const std::optional<Usage>& usage,
                                FinishReason finish) {
    if (reason == "model_context_window_exceeded")
        throw ModelError(Overflow{.requested_tokens = usage ? usage->total() : 0},
                         "read the reply: it ended because the context window was full");
    try {
        return {M(std::move(message)), usage, finish};
    } catch (const Error& error) {
        fail_reply(ModelErrorClass::server, error.what());
    }
}

/// Puts a streamed reply together: events in, one whole message out, or an error. Knows of no connection. Each format
/// adds what its events mean.
class ReplyStream {
public:
    /// One event. Throws ModelError for an event that holds an error or is out of order; what a listener throws gets
    /// out. After either this is of no more use.
    void take(const SseEvent& event);
    /// The end has come: nothing after it matters.
    [[nodiscard]] bool is_done() const noexcept { return is_done_; }

protected:
    /// `on_delta` (null: nobody listens) must outlive this; `headers` are those of the response.
    explicit ReplyStream(const DeltaSink* on_delta, HttpHeaders headers)
        : on_delta_(on_delta), headers_(std::move(headers)) {}
    ReplyStream(ReplyStream&&) noexcept = default;
    ReplyStream& operator=(ReplyStream&&) noexcept = default;
    ~ReplyStream() = default;

    /// Whether the event is the last one, and says no more than that.
    [[nodiscard]] virtual bool is_end(const SseEvent&) const { return false; }
    virtual void take_answer(const ordered_json& answer, const SseEvent& event) = 0;

    void notify(Delta::Kind kind, std::string_view text, std::string_view call_id = {},
                std::string_view tool = {}) const;
    void set_done() noexcept { is_done_ = true; }
    [[nodiscard]] const HttpHeaders& headers() const noexcept { return headers_; }

private:
    const DeltaSink* on_delta_;
    HttpHeaders headers_;
    bool is_done_ = false;
};

}  // namespace whittle::inline v0::detail
