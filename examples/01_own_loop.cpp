// A host with a loop of its own: it calls the chain's hooks and the model itself.
#include <whittle/whittle.hpp>

#include <iostream>
#include <utility>

using namespace whittle;

// [step]
Reply<ChatMessage> step(Conversation<>& conversation, const Chain<>& chain, Model<ChatMessage>& model,
                        const HookRequest<>& request) {
    std::cout << to_text(chain.before_model(conversation, request));
    auto reply = chain.generate(model, {.messages = conversation.messages(), .tools = request.tools});
    conversation.push_reply(reply);
    chain.after_model(conversation, request);
    return reply;
}
// [/step]

void run_tools(Conversation<>& conversation, const Chain<>& chain, const HookRequest<>& request) {
    const auto list_files = [](const ToolContext&, PartSink& out) {
        for (int i = 0; i < 200; ++i) out.write("src/file_" + std::to_string(i) + ".cpp\n");
        return ToolOutcome{};
    };
    std::vector<ToolReturn> returns;
    for (const ToolContext& call : chain.pending_tool_calls(conversation, request)) {
        CollectingSink result;
        ToolOutcome outcome = chain.wrap_tool(call, result, list_files);
        returns.push_back(collect_tool_return(call, result, std::move(outcome)));
    }
    conversation.push_tool_results(returns);
}

int main() {
    const Chain chain{ChainConfig{.storage = memory_storage()},
                      Reduction{{.skip_truncation = true, .max_tokens_for_clear = 1'500}}};
    ScriptedModel<ChatMessage> model({ChatMessage::assistant().call("1", "list_files"),
                                      ChatMessage::assistant().call("2", "list_files"),
                                      ChatMessage::assistant("There are 200 files.")});
    const std::vector<ToolSpec> tools{{.name = "list_files", .description = "Lists the files."}};
    const HookRequest<> request{.tools = tools};

    Conversation conversation("own-loop");
    conversation.push_back(ChatMessage::user("How many files are there?"));
    for (;;) {
        const auto reply = step(conversation, chain, model, request);
        if (!conversation.outline().open_round_begin()) break;
        run_tools(conversation, chain, request);
    }
    std::cout << text_of(conversation.messages().back()) << '\n';
}
