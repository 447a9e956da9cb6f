// The older part of a conversation becomes one message that a model wrote; the user's own words stand in it.
#include <whittle/whittle.hpp>

#include <iostream>

using namespace whittle;

int main() {
    // [summarize]
    const auto model = std::make_shared<ScriptedModel<>>(
        std::vector{ChatMessage::assistant("<summary>Pages 1 to 9 were read; page 4 has no title.</summary>")});
    const Chain chain{ChainConfig{},
                      Summarization{model, {.trigger = {.context_tokens = 12'000}, .keep_recent_tokens = 2'000}}};
    Conversation conversation("pages");
    conversation.push_back(ChatMessage::user("Read the pages one by one. Never change a file."));
    for (int page = 1; page <= 9; ++page) {
        const std::string id = "call_" + std::to_string(page);
        conversation.push_back(ChatMessage::assistant().call(id, "read_page"));
        conversation.push_back(ChatMessage::result(id, "read_page", std::string(6'000, '.')));
    }
    conversation.push_back(ChatMessage::user("Now say what is missing."));
    const Report& report = chain.before_model(conversation);
    // [/summarize]
    std::cout << report.tokens_before << " -> " << report.tokens_after << " tokens, " << conversation.size()
              << " messages\nthe first message, without the sentences before and behind:\n";
    const std::string text = text_of(conversation.messages()[0]);
    const std::size_t begin = text.find("\n\n") + 2;
    std::cout << text.substr(begin, text.rfind("\n\n") - begin) << '\n';
}
