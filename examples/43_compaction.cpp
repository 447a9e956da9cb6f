// Old tool results become placeholders, and where that is not enough, the oldest turns one summary.
#include <whittle/whittle.hpp>

#include <iostream>

using namespace whittle;

int main() {
    // [compaction]
    const auto model = std::make_shared<ScriptedModel<>>(std::vector{ChatMessage::assistant("The bug is in file 2.")});
    const Chain chain{ChainConfig{.storage = memory_storage()},
                      Compaction{model, {.threshold_tokens = 1'000, .target_tokens = 500, .summary_size_tokens = 100}}};
    Conversation conversation("talk");
    for (const char* file : {"1", "2", "3", "4", "5"}) {
        conversation.push_back(ChatMessage::user(std::string("Read file ") + file));
        conversation.push_back(ChatMessage::assistant().call(file, "read_file"));
        conversation.push_back(ChatMessage::result(file, "read_file", std::string(1'000, '.')));
        const Report& report = chain.before_model(conversation);
        std::cout << report.tokens_before << " -> " << report.tokens_after << " tokens\n";
        conversation.push_back(ChatMessage::assistant("Read: " + std::string(300, '.')));
    }
    std::cout << text_of(conversation.messages()[0]) << '\n';
    // [/compaction]
}
