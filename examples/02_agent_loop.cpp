// The library's own loop: a model, a tool, and a chain that keeps the history small.
#include <whittle/whittle.hpp>

#include <iostream>

using namespace whittle;

int main() {
    // [loop]
    auto store = memory_storage();
    auto model = std::make_shared<ScriptedModel<ChatMessage>>([step = 0](const ModelRequest<ChatMessage>&) mutable {
        if (step == 8) return Reply<ChatMessage>{ChatMessage::assistant("All eight pages are read.")};
        const std::string id = std::to_string(++step);
        return Reply<ChatMessage>{ChatMessage::assistant().call("call_" + id, "read_page", R"({"page":)" + id + "}")};
    });
    const Tool read_page =
        text_tool("read_page", "Reads a page.", R"({"type":"object","properties":{"page":{"type":"integer"}}})",
                  [](std::string_view arguments) { return std::string(arguments) + std::string(8'000, '.'); });
    Chain chain{ChainConfig{.storage = store},
                Reduction<ChatMessage>{
                    {.skip_truncation = true, .max_tokens_for_clear = 6'000, .clear_retention_suffix_limit = 2}}};
    AgentLoop loop{model, {read_page}, chain};

    Conversation conversation("eight-pages");
    const RunResult result = loop.run(conversation, "Read all pages.");
    // [/loop]
    std::cout << to_string(result.outcome) << " after " << result.steps << " steps: " << result.text << '\n';
    std::cout << conversation.tokens(chars_counter()) << " tokens in the history, " << conversation.journal().size()
              << " commits\n";
    std::cout << text_of(conversation.messages()[2], 0) << '\n';
    std::cout << "in the store: " << store->get("eight-pages/clear/call_1")->size() << " bytes\n";
    while (conversation.undo()) {
    }
    std::cout << conversation.tokens(chars_counter()) << " tokens after undoing everything\n";
}
