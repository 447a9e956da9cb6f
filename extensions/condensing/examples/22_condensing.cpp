// Results as what they are: what a tool returns as JSON or as a log is shown in a shorter form, and the store has it.
#include <whittle/condensing/condensing.hpp>
#include <whittle/whittle.hpp>

#include <iostream>
#include <string>
#include <vector>

using namespace whittle;

namespace {

std::string orders() {
    std::string json = "[\n";
    for (int i = 0; i < 90; ++i) {
        json += "  {\n    \"order\": " + std::to_string(7'000 + i) + ",\n    \"status\": \"" +
                (i == 41 ? "payment failed" : "shipped") + "\",\n    \"total\": " + std::to_string(20 + i % 9) +
                ".50\n  }";
        json += i < 89 ? ",\n" : "\n]\n";
    }
    return json;
}

std::string log() {
    std::string text;
    for (int i = 0; i < 200; ++i) {
        text += "12:00:" + std::to_string(10 + i % 50) + " INFO  worker " + std::to_string(i % 4) + " took job " +
                std::to_string(i) + "\n";
        if (i == 120) text += "12:00:30 ERROR queue \"mail\" refused the connection\n";
    }
    return text;
}

}  // namespace

int main() {
    Conversation<> conversation("shop");
    conversation.push_back(ChatMessage::user("Which orders need me?"));
    conversation.push_back(ChatMessage::assistant("").call("c1", "list_orders").call("c2", "tail_log"));
    // [condensing]
    const Chain chain{
        ChainConfig{.storage = memory_storage()},
        Condensing<>{{.min_bytes = 2'000, .max_lossless_json_bytes = 1'500, .head_rows = 3, .tail_rows = 2}}};
    const std::vector<Tool> tools{text_tool("list_orders", "", "{}", [](std::string_view) { return orders(); }),
                                  text_tool("tail_log", "", "{}", [](std::string_view) { return log(); })};
    std::vector<ToolReturn> results;
    for (const ToolContext& call : chain.pending_tool_calls(conversation)) {
        CollectingSink sink;
        ToolOutcome outcome = chain.wrap_tool(call, sink, tools[call.index_in_round].invoke);
        results.push_back(collect_tool_return(call, sink, std::move(outcome)));
    }
    conversation.push_tool_results(results);
    // [/condensing]
    for (const ToolReturn& result : results) std::cout << text_of(result) << "\n";
    conversation.undo();
    conversation.undo();
    std::cout << "after undo: " << (text_of(conversation.messages()[2], 0) == orders() ? "all of it" : "not all")
              << "\n";
}
