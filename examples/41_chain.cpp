// A conversation, a chain over it, what a hook reports, and all back.
#include <whittle/whittle.hpp>

#include <iostream>

using namespace whittle;

int main() {
    // [chain]
    const Chain chain{ChainConfig{.storage = memory_storage()}, Reduction{{.max_tokens_for_clear = 2'500}}};
    Conversation conversation("files");
    conversation.push_back(ChatMessage::user("Read the files."));
    for (const char* file : {"a.txt", "b.txt", "c.txt"}) {
        chain.before_model(conversation);  // then your model answers
        conversation.push_back(ChatMessage::assistant().call(file, "read_file"));
        conversation.push_back(ChatMessage::result(file, "read_file", std::string(4'000, '.')));
    }
    std::cout << to_text(chain.before_model(conversation));
    while (conversation.undo()) {
    }
    std::cout << "undone: " << conversation.tokens(chars_counter()) << " tokens\n";
    // [/chain]
}
