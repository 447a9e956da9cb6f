#pragma once

#include "whittle/anthropic/anthropic.hpp"
#include "whittle/model/model.hpp"
#include "whittle/provider/http_transport.hpp"
#include "whittle/provider/sse_parser.hpp"

#include <cstdint>
#include <memory>
#include <string_view>

namespace whittle::inline v0::anthropic {

/// The reply in the body of a response that was not streamed, with every block as it came. A listener gets it in a few
/// pieces. Throws ModelError: what an error inside it says, overflow for a reply that ended because the window was
/// full, server for anything that is no message.
[[nodiscard]] Reply<Message> messages_reply(std::string_view body, const DeltaSink* on_delta = nullptr,
                                            const HttpHeaders& headers = {});

/// The count in the body of a response of count_tokens. Throws ModelError.
[[nodiscard]] std::int64_t counted_tokens(std::string_view body);

/// Puts a streamed reply together. Knows of no connection: events in, one whole message out, or an error. Deltas of a
/// kind it does not know are merged into their block, so that no member is lost. A tool call that the output limit cut
/// off is left out of the message.
class MessagesStream {
public:
    /// `on_delta` (null: nobody listens) must outlive this; `headers` are those of the response.
    explicit MessagesStream(const DeltaSink* on_delta = nullptr, HttpHeaders headers = {});
    ~MessagesStream();
    MessagesStream(MessagesStream&&) noexcept;
    MessagesStream& operator=(MessagesStream&&) noexcept;

    /// One event. Throws ModelError for an error event and for what is out of order; what a listener throws gets out.
    /// After either this is of no more use.
    void take(const SseEvent& event);
    /// "message_stop" has come: nothing after it matters.
    [[nodiscard]] bool is_done() const noexcept;
    /// The whole reply. Throws ModelError of class transport if the stream ended before the message did, and overflow
    /// for a window that was full. Call it once.
    [[nodiscard]] Reply<Message> finish();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace whittle::inline v0::anthropic
