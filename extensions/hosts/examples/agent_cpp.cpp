// agent.cpp's own loop and callbacks, with a scripted model below them: a task whose history does not fit, without
// whittle and with it.
#include "agent.h"

#include "agent_cpp_scripted.hpp"
#include "scripted_reader.hpp"

#include <whittle/hosts/agent_cpp.hpp>
#include <whittle/whittle.hpp>

#include <algorithm>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using whittle::host::AgentCppHooks;

class ReadLog final : public agent_cpp::Tool {
public:
    common_chat_tool get_definition() const override { return {"read_log", "reads a part of the log", "{}"}; }
    std::string execute(const agent_cpp::json& arguments) override { return scripted::log_part(arguments.at("part")); }
    std::string get_name() const override { return "read_log"; }
};

/// A tool of the chain as one of the agent's.
class ChainTool final : public agent_cpp::Tool {
public:
    ChainTool(whittle::Tool tool, const AgentCppHooks& hooks) : tool_(std::move(tool)), hooks_(&hooks) {}
    common_chat_tool get_definition() const override { return {tool_.name, tool_.description, tool_.parameters}; }
    std::string execute(const agent_cpp::json& arguments) override {
        const whittle::ToolContext call = hooks_->context(tool_.name, arguments.dump());
        whittle::CollectingSink sink;
        whittle::ToolOutcome outcome = tool_.invoke(call, sink);
        return text_of(collect_tool_return(call, sink, std::move(outcome)));
    }
    std::string get_name() const override { return tool_.name; }

private:
    whittle::Tool tool_;
    const AgentCppHooks* hooks_;
};

/// An agent whose last callback is the chain's, if there is one.
struct LogAgent {
    explicit LogAgent(const whittle::Chain<common_chat_msg>* chain) {
        std::vector<std::unique_ptr<agent_cpp::Tool>> tools;
        tools.push_back(std::make_unique<ReadLog>());
        std::vector<std::unique_ptr<agent_cpp::Callback>> callbacks;
        if (chain != nullptr) {
            auto own = std::make_unique<AgentCppHooks>(*chain, "agent");
            hooks = own.get();
            std::vector<whittle::ToolSpec> specs;
            for (whittle::Tool& tool : chain->tools()) {
                specs.push_back(tool.spec());
                tools.push_back(std::make_unique<ChainTool>(std::move(tool), *hooks));
            }
            hooks->set_agent_tool_specs(std::move(specs));
            callbacks.push_back(std::move(own));
        }
        agent =
            std::make_unique<agent_cpp::Agent>(scripted::model(), std::move(tools), std::move(callbacks), "Be brief.");
    }

    std::string ask(const std::string& text) {
        common_chat_msg question;
        question.role = "user";
        question.content = text;
        messages.push_back(std::move(question));
        try {
            return hooks != nullptr ? hooks->run_loop_retrying_overflow(*agent, messages) : agent->run_loop(messages);
        } catch (const agent_cpp::Error& error) {
            return error.what();
        }
    }

    AgentCppHooks* hooks = nullptr;
    std::unique_ptr<agent_cpp::Agent> agent{};
    std::vector<common_chat_msg> messages{};
};

void run(const std::string& name, std::size_t window, const whittle::Chain<common_chat_msg>* chain) {
    scripted::context() = {window};
    LogAgent agent(chain);
    std::cout << name << ", context of " << window << " tokens\n";
    std::cout << "  the task        " << agent.ask("The word of the day is heron. Read parts 1 to 12.") << '\n';
    std::cout << "  the serial      " << agent.ask("What is the serial of part 3?") << '\n';
    std::cout << "  the word        " << agent.ask("What is the word of the day?") << '\n';
    const auto violations = whittle::validate(std::span<const common_chat_msg>(agent.messages), whittle::openai_chat());
    std::cout << "  prompts         " << scripted::context().answered << " answered, at most "
              << scripted::context().largest << " tokens; " << scripted::context().refused << " refused\n";
    std::cout << "  history         " << agent.messages.size() << " messages, " << violations.size() << " violations\n";
    if (agent.hooks == nullptr) return;
    while (agent.hooks->conversation().undo()) continue;
    int whole = 0;
    for (const common_chat_msg& m : agent.hooks->conversation().messages()) {
        for (int part = 1; part <= 12; ++part) whole += m.content == scripted::log_part(part) ? 1 : 0;
    }
    std::cout << "  undone          " << whole << " of 12 parts, byte for byte\n";
}

}  // namespace

int main() {
    run("agent.cpp alone", 4'096, nullptr);
    whittle::ChainConfig config{.storage = whittle::memory_storage()};
    config.profile.context_window = 4'096;
    const whittle::Chain clearing{
        config, whittle::Reduction<common_chat_msg>{{.max_length_for_trunc = 1'500, .max_tokens_for_clear = 2'000}}};
    run("with whittle", 4'096, &clearing);
    const whittle::Chain late{
        whittle::ChainConfig{.storage = whittle::memory_storage()},
        whittle::Reduction<common_chat_msg>{{.skip_truncation = true, .max_tokens_for_clear = 1'000'000}}};
    run("with whittle, which is told nothing of the context", 4'096, &late);
}
