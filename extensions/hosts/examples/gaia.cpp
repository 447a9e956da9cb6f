// gaia's own agent, client and tools, with a scripted model behind them: a task whose history does not fit, without
// whittle and with it.
#include "gaia/agent.h"

#include "gaia_scripted.hpp"
#include "scripted_reader.hpp"

#include <whittle/hosts/gaia.hpp>
#include <whittle/whittle.hpp>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr std::size_t bytes_per_token = 4;

/// A server with a window: what is larger is refused, in Lemonade's words.
struct Server {
    std::size_t window;
    std::size_t largest = 0;  // tokens of what was answered
    int answered = 0;
    int refused = 0;

    std::string operator()(const std::string& path, const std::string& body) {
        if (path != "/chat/completions") return "{}";
        const gaia::json request = gaia::json::parse(body);
        const std::size_t tokens = request.at("messages").dump().size() / bytes_per_token;
        if (tokens > window) return refuse(tokens);
        largest = std::max(largest, tokens);
        ++answered;
        return reply(request).dump();
    }
    std::string refuse(std::size_t tokens) {
        ++refused;
        const gaia::json error{{"message", "the request exceeds the available context size"},
                               {"n_ctx", window},
                               {"n_prompt_tokens", tokens}};
        return gaia::json{{"error", {{"details", {{"response", {{"error", error}}}}}}}}.dump();
    }
    gaia::json reply(const gaia::json& request) const {
        std::vector<scripted::SeenMessage> seen;
        std::map<std::string, int> parts;  // by call id
        for (const gaia::json& m : request["messages"]) {
            scripted::SeenMessage one{m["role"], m["content"].is_string() ? m["content"] : ""};
            for (const gaia::json& call : m.value("tool_calls", gaia::json::array())) {
                const gaia::json arguments = gaia::json::parse(call["function"]["arguments"].get<std::string>());
                one.part = parts[call["id"]] = arguments.value("part", 0);
            }
            if (one.role == "tool") one.part = parts[m.value("tool_call_id", "")];
            seen.push_back(std::move(one));
        }
        const scripted::Step step =
            scripted::next_step(seen, request["tools"].dump().find("read_offloaded") != std::string::npos);
        gaia::json message{{"role", "assistant"}, {"content", step.answer}};
        if (step.answer.empty()) {
            message["tool_calls"] = {{{"id", "call_" + std::to_string(answered)},
                                      {"type", "function"},
                                      {"function", {{"name", step.tool}, {"arguments", step.arguments}}}}};
        }
        return {{"choices", {{{"message", message}}}}};
    }
};

class LogAgent : public gaia::Agent {
public:
    explicit LogAgent(const gaia::AgentConfig& config) : Agent(config) { init(); }

private:
    void registerTools() override {
        toolRegistry().registerTool(
            "read_log", "reads a part of the log",
            [](const gaia::json& arguments) { return gaia::json(scripted::log_part(arguments.at("part"))); },
            {{"part", gaia::ToolParamType::INTEGER, true, "from 1"}});
    }
};

/// The first words of an answer.
std::string short_of(const gaia::json& answer) {
    const std::string text = answer.at("result");
    return text.substr(0, text.find_first_of(":\n"));
}

void run(const std::string& name, std::size_t window, const whittle::Chain<gaia::Message>* chain) {
    Server server{window};
    scripted::server() = std::ref(server);
    gaia::AgentConfig config;
    config.baseUrl = "http://127.0.0.1:1/v1";
    config.silentMode = true;
    config.nativeToolCalls = gaia::NativeToolCalls::Always;
    config.maxSteps = 40;
    LogAgent agent(config);
    agent.setOutputHandler(std::make_unique<gaia::SilentConsole>(true));
    // [hooks]
    std::unique_ptr<whittle::host::GaiaHooks> hooks;
    if (chain != nullptr) {
        hooks = std::make_unique<whittle::host::GaiaHooks>(*chain, "gaia");
        hooks->attach(agent);
    }
    const auto ask = [&](const std::string& text) {
        return short_of(hooks ? hooks->process_query_retrying_overflow(agent, text) : agent.processQuery(text));
    };
    // [/hooks]
    std::cout << name << ", window of " << window << " tokens\n";
    std::cout << "  the task        " << ask("The word of the day is heron. Read parts 1 to 24.") << '\n';
    std::cout << "  the serial      " << ask("What is the serial of part 3?") << '\n';
    std::cout << "  the word        " << ask("What is the word of the day?") << '\n';
    const std::vector<gaia::Message> history = agent.history();
    const auto violations = whittle::validate(std::span<const gaia::Message>(history), whittle::openai_chat());
    std::cout << "  requests        " << server.answered << " answered, at most " << server.largest << " tokens; "
              << server.refused << " refused\n";
    std::cout << "  history         " << history.size() << " messages, " << violations.size() << " violations\n";
    if (!hooks) return;
    whittle::Conversation<gaia::Message>& conversation = hooks->conversation();
    const auto store = chain->config().storage;
    std::size_t whole = 0;
    store->list("gaia/", [&](const whittle::ObjectInfo& info) {
        const std::string content = store->get(info.key).value_or("");
        for (int part = 1; part <= 24; ++part) whole += content == scripted::log_part(part) ? 1 : 0;
        return true;
    });
    std::cout << "  in the store    " << whole << " of 24 parts, byte for byte\n";
    while (conversation.undo()) continue;
    std::size_t bytes = 0;
    for (const gaia::Message& m : conversation.messages())
        bytes += m.role == gaia::MessageRole::TOOL ? m.content.size() : 0;
    std::cout << "  undone          " << bytes << " bytes of results\n";
}

}  // namespace

int main() {
    run("gaia alone", 8'192, nullptr);
    run("gaia alone", 16'384, nullptr);
    run("gaia alone", 32'768, nullptr);
    whittle::ChainConfig config{.storage = whittle::memory_storage()};
    config.profile.context_window = 8'192;
    const whittle::Chain chain{
        config, whittle::Reduction<gaia::Message>{{.max_length_for_trunc = 1'500, .max_tokens_for_clear = 5'000}}};
    run("with whittle", 8'192, &chain);
}
