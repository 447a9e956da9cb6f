#pragma once

#include "whittle/model/model.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/provider/http_transport.hpp"
#include "whittle/provider/sse_parser.hpp"

#include <memory>
#include <optional>
#include <string_view>

namespace whittle::inline v0::openai {

/// The "usage" of a response. What was read from or written to the cache is taken out of `prompt_tokens`; the output
/// includes reasoning, also where a server counts it only in the total. nullopt if `usage` is no object, or has no
/// count above 0.
[[nodiscard]] std::optional<Usage> usage_of(const nlohmann::ordered_json& usage);

/// The "timings" of llama-server's `response`, whole or the last event of a stream. What it had kept (`cache_n`) is
/// told by its usage where an older release leaves it out. nullopt without a complete object.
[[nodiscard]] std::optional<ServerTiming> timing_of(const nlohmann::ordered_json& response);

/// The reply in the body of a response that was not streamed: its first choice, with every member of the message. A
/// listener gets it in a few pieces. Throws ModelError: what an error inside it says, overflow for a reply that ended
/// because the window was full, server for anything that is no response.
[[nodiscard]] Reply<Message> chat_reply(std::string_view body, const DeltaSink* on_delta = nullptr,
                                        const HttpHeaders& headers = {});

/// Puts a streamed reply together. Knows of no connection: events in, one whole message out, or an error.
class ChatStream {
public:
    /// `on_delta` (null: nobody listens) must outlive this; `headers` are those of the response.
    explicit ChatStream(const DeltaSink* on_delta = nullptr, HttpHeaders headers = {});
    ~ChatStream();
    ChatStream(ChatStream&&) noexcept;
    ChatStream& operator=(ChatStream&&) noexcept;

    /// One event. Throws ModelError for an event that holds an error or is no chunk; what a listener throws gets out.
    /// After either this is of no more use.
    void take(const SseEvent& event);
    /// "[DONE]" has come: nothing after it matters.
    [[nodiscard]] bool is_done() const noexcept;
    /// The whole reply, with every member that came. Throws ModelError of class transport if the stream ended before
    /// the reply did. Call it once.
    [[nodiscard]] Reply<Message> finish();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace whittle::inline v0::openai
