// A tool streams 10 MB; the store gets all of it, the model head, notice and tail, and memory stays small. What the
// model needs of the rest it finds with the tool that the loop offers.
#include <whittle/whittle.hpp>

#include <cstdlib>
#include <filesystem>
#include <iostream>

using namespace whittle;

// [stream]
ToolOutcome export_table(const ToolContext& context, PartSink& out) {
    for (int row = 1; row <= 100'000; ++row) {
        if (context.stop.stop_requested()) return {.is_error = true};
        std::string line = "row " + std::to_string(row) + (row == 54'321 ? " WARN" : " ok");
        line.resize(99, '.');
        out.write(line += '\n');  // goes through the chain at once
    }
    return {};
}
// [/stream]

/// Asks for the table, searches the stored text that the notice names, and answers with what it found.
Reply<ChatMessage> think(const ModelRequest<ChatMessage>& request) {
    const std::string seen = text_of(request.messages.back(), 0);
    if (request.messages.size() == 1) return {ChatMessage::assistant().call("call_1", "export_table")};
    if (request.messages.size() > 3) return {ChatMessage::assistant("Found:\n" + seen)};
    const std::string_view mark = "read_offloaded(\"";
    const std::size_t at = seen.find(mark) + mark.size();
    const std::string reference = seen.substr(at, seen.find('"', at) - at);
    return {ChatMessage::assistant().call("call_2", "read_offloaded",
                                          R"({"reference":")" + reference + R"(","grep":"WARN"})")};
}

int main() {
    const auto directory = std::filesystem::temp_directory_path() / "whittle-example-XXXXXX";
    std::string root = directory.string();
    if (::mkdtemp(root.data()) == nullptr) return 1;
    const auto store = file_storage(root);
    const Tool table{.name = "export_table", .description = "Exports the table.", .invoke = export_table};
    AgentLoop loop{std::make_shared<ScriptedModel<ChatMessage>>(think),
                   {table},
                   Chain{ChainConfig{.storage = store}, Reduction{{.max_length_for_trunc = 2'000}}}};
    Conversation conversation("export");
    std::cout << loop.run(conversation, "Which row has a warning?").text << '\n';
    std::cout << "shown to the model: " << text_of(conversation.messages()[2], 0).size() / 1'000 << " kB of "
              << store->stat("export/trunc/call_1")->bytes / 1'000'000 << " MB\n";
    std::filesystem::remove_all(root);
}
