// A host with a loop and a std::vector of JSON messages of its own: truncation, clearing, read-back and overflow.
#include <whittle/openai/openai.hpp>
#include <whittle/whittle.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;
using nlohmann::json;

namespace {

/// What the host's own client throws when the provider refuses a request as too long.
struct TooLong {
    std::int64_t context_limit_tokens = 0;
    std::int64_t requested_tokens = 0;
};

using Post = std::function<json(const std::vector<json>& messages)>;

// [loop]
json run(std::vector<json>& list, const Chain<openai::Message>& chain, const std::vector<Tool>& tools,
         const Post& post) {
    Conversation<openai::Message> known("chat-1");  // what whittle knows of the list
    std::vector<ToolSpec> specs;
    for (const Tool& tool : tools) specs.push_back(tool.spec());
    const HookRequest<openai::Message> request{.tools = specs};
    std::vector<ToolReturn> returns;
    const auto update = [&](std::uint64_t version) {  // the list is as it was then: only what changed since is replaced
        known.apply_to(list, version, [](const openai::Message& m) { return json(m.json()); });
    };
    for (;;) {
        const std::vector<openai::Message> now(list.begin(), list.end());
        const SyncResult synced = known.sync(now, returns);
        chain.before_model(known, request);  // clears what is old
        update(synced.version);
        json reply;
        try {
            reply = post(list);
        } catch (const TooLong& refused) {
            const std::uint64_t version = known.version();
            if (!chain.on_overflow(known,
                                   {.context_limit_tokens = refused.context_limit_tokens,
                                    .requested_tokens = refused.requested_tokens},
                                   request))
                throw;
            update(version);
            reply = post(list);
        }
        list.push_back(reply);
        known.push_back(openai::Message(reply));
        returns.clear();
        for (const ToolContext& call : chain.pending_tool_calls(known, request)) {
            const auto tool = std::ranges::find(tools, call.tool, &Tool::name);
            if (tool == tools.end()) throw std::runtime_error("no tool " + call.tool);
            CollectingSink shown;
            ToolOutcome outcome = chain.wrap_tool(call, shown, tool->invoke);  // truncates
            returns.push_back(collect_tool_return(call, shown, std::move(outcome)));
            list.push_back({{"role", "tool"}, {"tool_call_id", call.call_id}, {"content", text_of(returns.back())}});
        }
        if (returns.empty()) return reply;
    }
}
// [/loop]

json call(const std::string& id, const std::string& tool, const json& arguments) {
    const json function{{"name", tool}, {"arguments", arguments.dump()}};
    return {{"role", "assistant"},
            {"content", nullptr},
            {"tool_calls", {{{"id", id}, {"type", "function"}, {"function", function}}}}};
}

std::size_t bytes_of(const std::vector<json>& list) {
    std::size_t bytes = 0;
    for (const json& message : list) bytes += message.dump().size();
    return bytes;
}

/// Plays the provider: five logs are read, then the middle of the first again; it takes 5,200 bytes.
json answer(const std::vector<json>& list, int reply) {
    const bool is_refused = bytes_of(list) > 5'200;
    std::cout << list.size() << " messages" << (is_refused ? ", refused\n" : "\n");
    if (is_refused) {
        throw TooLong{.context_limit_tokens = 1'300, .requested_tokens = 1'500};
    }
    const std::string id = "c" + std::to_string(reply);
    if (reply <= 5) return call(id, "read_log", {{"log", reply}});
    const json where{{"reference", "chat-1/trunc/c1"}, {"offset", 2'000}, {"max_bytes", 300}};
    if (reply == 6) return call(id, "read_offloaded", where);
    return {{"role", "assistant"}, {"content", "All is read."}};
}

std::string read_log(std::string_view arguments) {
    const int log = json::parse(arguments)["log"];
    std::string text;
    for (int line = 1; line <= 150; ++line)
        text += "log " + std::to_string(log) + ", line " + std::to_string(line) + ": all is well\n";
    return text;
}

}  // namespace

int main() {
    const Chain chain{ChainConfig{.storage = memory_storage()},
                      Reduction<openai::Message>{{.max_length_for_trunc = 2'000, .max_tokens_for_clear = 1'500}}};
    const std::vector<Tool> tools{text_tool("read_log", "Reads a log.", R"({"type":"object"})", read_log),
                                  read_offloaded_tool()};
    std::vector<json> list{{{"role", "user"}, {"content", "Read the logs."}}};
    int replies = 0;
    const json last = run(list, chain, tools, [&](const std::vector<json>& messages) {
        json reply = answer(messages, replies + 1);
        ++replies;
        return reply;
    });
    std::cout << last["content"] << '\n';
    for (const json& message : list)
        if (message["role"] == "tool") std::cout << message["content"].get<std::string>().substr(0, 45) << '\n';
}
