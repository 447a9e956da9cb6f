// Any bytes as a side table: it is refused, or gives a conversation that can be undone, edited and saved again.
#include "whittle/saved/side_table.hpp"
#include "whittle/message/validity.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using whittle::ChatMessage;
using whittle::Errc;

const std::vector<ChatMessage>& messages() {
    static const std::vector<ChatMessage> list{ChatMessage::user("go"), ChatMessage::assistant("").call("c", "read"),
                                               ChatMessage::result("c", "read", "text"),
                                               ChatMessage::assistant("done")};
    return list;
}

void use(whittle::Conversation<ChatMessage> conversation) {
    static_cast<void>(conversation.outline().rounds());
    static_cast<void>(whittle::validate(conversation.outline(), whittle::openai_chat()));
    const std::string saved = whittle::to_side_table(conversation);
    const std::vector<ChatMessage> list(conversation.messages().begin(), conversation.messages().end());
    if (whittle::to_side_table(whittle::from_side_table(saved, list, whittle::memory_storage())) != saved)
        __builtin_trap();
    conversation.push_back(ChatMessage::assistant("").call("c", "read"));
    while (conversation.undo()) {
    }
}

void load(std::string_view json, const std::vector<ChatMessage>& list) {
    try {
        use(whittle::from_side_table(json, list, whittle::memory_storage()));
    } catch (const whittle::Error& e) {
        const Errc code = e.errc();
        const bool expected = code == Errc::parse_failed || code == Errc::damaged || code == Errc::not_found ||
                              code == Errc::invalid_argument;
        if (!expected || !whittle::is_valid_utf8(e.what())) __builtin_trap();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    load(text, {});
    load(text, messages());
    return 0;
}
