// A long result in JSON becomes rows; the store has it as it came.
#include <whittle/condensing/condensing.hpp>
#include <whittle/whittle.hpp>

#include <iostream>
#include <string>

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

}  // namespace

int main() {
    Conversation<> conversation("shop");
    conversation.push_back(ChatMessage::assistant().call("c1", "list_orders"));
    // [rows]
    const auto store = memory_storage();
    const Chain chain{
        ChainConfig{.storage = store},
        Condensing<>{{.max_lossless_json_bytes = 1'500, .head_rows = 3, .tail_rows = 2, .max_outliers = 1}}};
    const Tool tool = text_tool("list_orders", "", "{}", [](std::string_view) { return orders(); });
    const ToolContext call = chain.pending_tool_calls(conversation).front();
    CollectingSink sink;
    ToolOutcome outcome = chain.wrap_tool(call, sink, tool.invoke);
    const std::string shown = text_of(collect_tool_return(call, sink, std::move(outcome)));
    // [/rows]
    std::cout << orders().size() << " bytes became " << shown.size() << ": a notice, and\n"
              << shown.substr(shown.find('\n') + 1) << "\nin the store: " << store->get("shop/condensed/c1")->size()
              << " bytes\n";
}
