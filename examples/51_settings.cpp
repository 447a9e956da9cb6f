// Settings that are often asked for: five whole results, errors that stay, a cap on one tool, a store on disk.
#include <whittle/whittle.hpp>

#include <algorithm>
#include <iostream>

using namespace whittle;

namespace {

// [settings]
bool has_error(const MessageInfo& message) {
    return std::ranges::any_of(message.parts, [](const PartInfo& part) { return part.is_error; });
}

PresetConfig settings() {
    PresetConfig config = recommended({.context_window = 32'000});
    config.trimming.keep_rounds = 5;  // trimming and clearing leave the results of the newest five calls
    config.reduction.clear_retention_suffix_limit = 5;
    config.summarization->keep_recent_messages = 10;  // five calls, five results: these ten are not summarized
    config.chain.pins = has_error;                    // failed results stay
    config.reduction.tool_config["grep"] = {.max_length_for_trunc = 4'000};  // bytes of one result
    return config;
}
// [/settings]

void add_call(Conversation<>& conversation, const Chain<>& chain, const std::string& tool, const std::string& output,
              bool is_error) {
    chain.before_model(conversation);
    const std::string id = "c" + std::to_string(conversation.model_calls() + 1);
    conversation.push_back(ChatMessage::assistant().call(id, tool));
    std::vector<ToolReturn> returns;
    for (const ToolContext& call : chain.pending_tool_calls(conversation)) {
        CollectingSink result;
        ToolOutcome outcome = chain.wrap_tool(call, result, [&](const ToolContext&, PartSink& out) {
            out.write(output);
            return ToolOutcome{.is_error = is_error};
        });
        returns.push_back(collect_tool_return(call, result, std::move(outcome)));
    }
    conversation.push_tool_results(returns);
}

}  // namespace

int main() {
    const Chain<> chain = make_chain(settings());
    Conversation conversation("settings");
    conversation.push_back(ChatMessage::user("Why does the test fail?"));
    add_call(conversation, chain, "run", "error: no such file: tests/data.json\n" + std::string(1'000, '-'), true);
    add_call(conversation, chain, "grep", std::string(20'000, 'g'), false);
    for (int i = 3; i <= 30; ++i) add_call(conversation, chain, "read_file", std::string(6'000, 'r'), false);
    chain.before_model(conversation);

    const auto shown = [&](std::size_t call) { return text_of(conversation.messages()[2 * call], 0); };
    std::cout << "the failed call      " << shown(1).substr(0, 36) << '\n'
              << "20,000 bytes of grep " << shown(2).size() << " bytes shown\n"
              << "call 3               " << shown(3) << '\n'
              << "calls 26 to 30      ";
    for (std::size_t call = 26; call <= 30; ++call) std::cout << ' ' << shown(call).size();
    std::cout << " bytes shown\n";
}
