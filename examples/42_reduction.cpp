// A long tool result is cut when it arrives, an old one becomes a placeholder before a model call.
#include <whittle/whittle.hpp>

#include <iostream>

using namespace whittle;

int main() {
    // [reduction]
    const Chain chain{ChainConfig{.storage = memory_storage()},
                      Reduction{{.max_length_for_trunc = 60, .max_tokens_for_clear = 80}}};
    const auto make = [](const ToolContext&, PartSink& out) {
        for (int line = 1; line <= 100; ++line) out.write("step " + std::to_string(line) + " is done\n");
        return ToolOutcome{};
    };
    Conversation conversation("c");
    conversation.push_back(ChatMessage::user("Build it."));
    for (const char* id : {"1", "2"}) {
        conversation.push_back(ChatMessage::assistant().call(id, "make"));
        CollectingSink result;
        const ToolContext call = chain.pending_tool_calls(conversation).front();
        ToolOutcome outcome = chain.wrap_tool(call, result, make);
        conversation.push_tool_results(std::vector{collect_tool_return(call, result, std::move(outcome))});
    }
    chain.before_model(conversation);
    // [/reduction]
    std::cout << text_of(conversation.messages()[2], 0) << "\n---\n" << text_of(conversation.messages()[4], 0);
}
