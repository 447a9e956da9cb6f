// A model that says itself what it no longer needs. It reads two files, finds what it looks for in the second one, and
// lets the first one go; the text stays in the store.
#include <whittle/release_context/release_context.hpp>
#include <whittle/whittle.hpp>

#include <iostream>

using namespace whittle;

namespace {

Reply<ChatMessage> calls(const std::string& id, const std::string& tool, const std::string& arguments) {
    return {ChatMessage::assistant().call(id, tool, arguments)};
}

}  // namespace

int main() {
    auto model = std::make_shared<ScriptedModel<ChatMessage>>([step = 0](const ModelRequest<ChatMessage>&) mutable {
        switch (++step) {
            case 1: return calls("c1", "show_file", R"({"path":"lexer.cpp"})");
            case 2: return calls("c2", "show_file", R"({"path":"parser.cpp"})");
            case 3:
                return calls("c3", "release_context", R"({"what":["lexer.cpp"],"why":"the fault is in the parser"})");
            default: return Reply<ChatMessage>{ChatMessage::assistant("It is in parser.cpp, line 40.")};
        }
    });
    const Tool show_file =
        text_tool("show_file", "Reads a file.", R"({"type":"object","properties":{"path":{"type":"string"}}})",
                  [](std::string_view arguments) { return std::string(arguments) + std::string(6'000, '.'); });
    // [chain]
    const auto store = memory_storage();
    const Chain chain{ChainConfig{.storage = store}, ReleaseContext<>{}};
    AgentLoop loop{model, {show_file}, chain};  // offers the tools of the chain, too
    // [/chain]
    Conversation conversation("fault");
    const RunResult result = loop.run(conversation, "Where is the fault?");
    const std::string placeholder = text_of(conversation.messages()[2], 0);
    std::cout << result.text << "\nThe model was told:\n"
              << text_of(conversation.messages()[6], 0) << "\nIn place of the file:\n"
              << placeholder.substr(0, placeholder.find("; starts")) << " ...\n"
              << placeholder.substr(placeholder.find("read_offloaded")) << '\n';
}
