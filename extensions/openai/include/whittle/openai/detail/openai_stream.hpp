#pragma once

#include "whittle/model/model.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/provider/detail/reply_stream.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

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

/// Puts a streamed reply together.
class ChatStream final : public whittle::detail::ReplyStream {
public:
    explicit ChatStream(const DeltaSink* on_delta = nullptr, HttpHeaders headers = {})
        : ReplyStream(on_delta, std::move(headers)) {}

    /// The whole reply, with every member that came. Throws ModelError of class transport if the stream ended before
    /// the reply did. Call it once.
    [[nodiscard]] Reply<Message> finish();

private:
    using Json = nlohmann::ordered_json;

    [[nodiscard]] bool is_end(const SseEvent& event) const override { return event.data == "[DONE]"; }
    void take_answer(const Json& chunk, const SseEvent& event) override;
    void take_usage(const Json& holder);
    void take_choice(const Json& choice);
    void match_content(Json& delta);
    void notify_text(const Json& delta) const;
    void notify_part(const Json& part) const;
    void take_call(const Json& piece);
    [[nodiscard]] Json& call_of(const Json& piece);

    Json message_{{"role", "assistant"}, {"content", nullptr}};
    Json calls_ = Json::array();
    std::string reason_{};
    std::optional<Usage> usage_{};
    std::optional<ServerTiming> timing_{};
    bool has_reason_ = false;
};

}  // namespace whittle::inline v0::openai
