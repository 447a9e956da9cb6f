// Replies of both APIs from hostile bytes: whole or streamed, cut anywhere, the same message comes out or the same
// error, and what comes out can be sent back.
#include "whittle/anthropic/detail/anthropic_request.hpp"
#include "whittle/anthropic/detail/anthropic_stream.hpp"
#include "whittle/openai/detail/openai_request.hpp"
#include "whittle/openai/detail/openai_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace whittle;

namespace {

/// The reply as text, or the class of the error: nothing else may be thrown.
template <typename Read>
std::string outcome_of(Read&& read) {
    try {
        return read().message.json().dump();
    } catch (const ModelError& error) {
        return "error " + std::string(to_string(error.error_class()));
    }
}

template <typename Stream>
std::string streamed(std::string_view bytes, std::size_t cut) {
    return outcome_of([&] {
        Stream stream;
        SseParser parser;
        const auto take = [&](const SseEvent& event) { stream.take(event); };
        parser.feed(bytes.substr(0, cut), take);
        parser.feed(bytes.substr(cut), take);
        parser.ends_cleanly();
        return stream.finish();
    });
}

void require(bool holds) {
    if (!holds) std::abort();
}

void send_back(const std::string& reply) {
    if (reply.starts_with("error ")) return;
    const openai::Message message = openai::Message::parse(reply);
    (void)openai::chat_body({.messages = {&message, 1}}, {.model = "m"}, false);
}

void send_back_anthropic(const std::string& reply) {
    if (reply.starts_with("error ")) return;
    const anthropic::Message message = anthropic::Message::parse(reply);
    (void)anthropic::messages_request({.messages = {&message, 1}}, {.model = "m"}, anthropic::RequestBodyKind::whole);
}

}  // namespace

/// The first byte says where the rest is cut.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    const std::size_t cut = bytes.empty() ? 0 : data[0] % bytes.size();
    const std::string openai = streamed<openai::ChatStream>(bytes, bytes.size());
    require(openai == streamed<openai::ChatStream>(bytes, cut));
    send_back(openai);
    send_back(outcome_of([&] { return openai::chat_reply(bytes); }));
    const std::string anthropic = streamed<anthropic::MessagesStream>(bytes, bytes.size());
    require(anthropic == streamed<anthropic::MessagesStream>(bytes, cut));
    send_back_anthropic(anthropic);
    send_back_anthropic(outcome_of([&] { return anthropic::messages_reply(bytes); }));
    return 0;
}
