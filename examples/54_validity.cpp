// What a provider would refuse in a history, and a repair of it.
#include <whittle/whittle.hpp>

#include <iostream>

using namespace whittle;

int main() {
    // [check]
    Conversation conversation("restored");
    conversation.push_back(ChatMessage::user("List the files."));
    conversation.push_back(ChatMessage::assistant().call("c1", "ls"));  // its result was lost
    conversation.push_back(ChatMessage::user("Are you done?"));

    for (const Violation& violation : validate<ChatMessage>(conversation.messages(), anthropic_messages()))
        std::cout << to_string(violation.rule) << ", message " << violation.message_index << ": " << violation.text
                  << '\n';
    for (const Repair& repair : conversation.repair(anthropic_messages()).repairs)
        std::cout << repair.code << ": " << repair.description << '\n';
    std::cout << validate<ChatMessage>(conversation.messages(), anthropic_messages()).size() << " violations\n";
    // [/check]
}
