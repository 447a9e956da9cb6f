// An agent with the recommended chain: it reads forty pages in a window of 16,000 tokens.
#include <whittle/whittle.hpp>

#include <iostream>

using namespace whittle;

namespace {

constexpr int pages = 40;

/// Stands for your model: asks for one page after the other.
Reply<ChatMessage> scripted(const ModelRequest<ChatMessage>& request) {
    const std::size_t step = request.messages.size() / 2;
    if (step == pages) return {ChatMessage::assistant("All pages are read.")};
    const std::string id = std::to_string(step + 1);
    return {ChatMessage::assistant().call("c" + id, "read_page", R"({"page":)" + id + "}")};
}

std::string page(std::string_view arguments) {
    std::string text;
    for (int line = 1; line <= 100; ++line)
        text += "line " + std::to_string(line) + " of " + std::string(arguments) + '\n';
    return text;
}

}  // namespace

int main() {
    // [agent]
    PresetConfig settings = recommended({.context_window = 16'000});
    settings.chain.storage = memory_storage();  // or file_storage("store"): originals that outlive the process

    const Tool read_page = text_tool("read_page", "Reads a page.", R"({"type":"object"})", page);
    AgentLoop<> loop{scripted, {read_page}, make_chain(settings)};

    Conversation conversation("book");
    const RunResult result = loop.run(conversation, "Read all pages.");
    std::cout << to_string(result.outcome) << " after " << result.steps << " steps: " << result.text << '\n'
              << conversation.tokens(chars_counter()) << " tokens in the history\n"
              << "page 1 is now: " << text_of(conversation.messages()[2], 0) << '\n';
    while (conversation.undo()) {
    }
    std::cout << conversation.tokens(chars_counter()) << " tokens, all undone\n";
    // [/agent]
}
