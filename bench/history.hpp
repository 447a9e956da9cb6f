// A history for benchmarks.
#pragma once

#include <whittle/whittle.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace whittle::bench {

/// A call and its result.
inline void push_round(Conversation<>& conversation, std::string result) {
    const std::string id = "call_" + std::to_string(conversation.size());
    conversation.push_back(ChatMessage::assistant().call(id, "read", R"({"path":"src/main.cpp"})"));
    conversation.push_back(ChatMessage::result(id, "read", std::move(result)));
}

/// One user message, then rounds of one call each with a result of `result_bytes`.
inline Conversation<> history_of(std::size_t messages, std::size_t result_bytes) {
    Conversation<> conversation("bench");
    conversation.push_back(ChatMessage::user("go"));
    while (conversation.size() < messages) push_round(conversation, std::string(result_bytes, 'x'));
    return conversation;
}

}  // namespace whittle::bench
