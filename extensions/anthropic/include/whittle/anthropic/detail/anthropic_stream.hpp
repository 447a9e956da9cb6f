#pragma once

#include "whittle/anthropic/anthropic.hpp"
#include "whittle/model/model.hpp"
#include "whittle/provider/detail/reply_stream.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0::anthropic {

/// The reply in the body of a response that was not streamed, with every block as it came. A listener gets it in a few
/// pieces. Throws ModelError: what an error inside it says, overflow for a reply that ended because the window was
/// full, server for anything that is no message.
[[nodiscard]] Reply<Message> messages_reply(std::string_view body, const DeltaSink* on_delta = nullptr,
                                            const HttpHeaders& headers = {});

/// The count in the body of a response of count_tokens. Throws ModelError.
[[nodiscard]] std::int64_t counted_tokens(std::string_view body);

/// Puts a streamed reply together. Deltas of a kind it does not know are merged into their block, so that no member is
/// lost. A tool call that the output limit cut off is left out of the message.
class MessagesStream final : public whittle::detail::ReplyStream {
public:
    explicit MessagesStream(const DeltaSink* on_delta = nullptr, HttpHeaders headers = {})
        : ReplyStream(on_delta, std::move(headers)) {}

    /// The whole reply. Throws ModelError of class transport if the stream ended before the message did, and overflow
    /// for a window that was full. Call it once.
    [[nodiscard]] Reply<Message> finish();

private:
    using Json = nlohmann::ordered_json;

    struct Block {
        Json json{};
        std::string input{};  // JSON of a call's input, as far as it has come
        bool is_open = true;
        bool is_cut = false;  // its input is no JSON object

        void close();
    };

    void take_answer(const Json& answer, const SseEvent& event) override;
    void start(const Json& event);
    void start_block(const Json& event);
    [[nodiscard]] Block& open_block(const Json& event);
    void add_to(Block& block, const Json& event) const;
    void append(Block& block, const Json& delta, const char* key, Delta::Kind kind) const;
    void update(const Json& event);
    [[nodiscard]] Json take_content();

    Json response_ = nullptr;                 // the message so far, without its content
    std::map<std::int64_t, Block> blocks_{};  // by index
};

}  // namespace whittle::inline v0::anthropic
