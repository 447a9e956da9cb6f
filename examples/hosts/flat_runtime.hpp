// Stands in for a runtime as llama.cpp's users write them: it owns a vector of plain structs and lends it to callbacks.
// Nothing in this file knows of whittle.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace flat {

struct tool_call {
    std::string name;
    std::string arguments;
    std::string id;
};

struct msg {
    std::string role;
    std::string content;
    std::vector<tool_call> tool_calls{};
    std::string tool_call_id{};
};

struct callbacks {
    std::function<void(std::vector<msg>&)> before_llm_call;
    std::function<void(const std::string& tool, std::string& result)> after_tool;  // of which call, nobody says
};

inline std::vector<msg> run(std::string task, const std::function<msg(const std::vector<msg>&)>& model,
                            const std::function<std::string(const tool_call&)>& tool, const callbacks& on) {
    std::vector<msg> messages{{"user", std::move(task)}};
    for (;;) {
        on.before_llm_call(messages);
        messages.push_back(model(messages));
        if (messages.back().tool_calls.empty()) return messages;
        for (const tool_call& call : std::vector(messages.back().tool_calls)) {
            std::string result = tool(call);
            on.after_tool(call.name, result);
            messages.push_back({"tool", std::move(result), {}, call.id});
        }
    }
}

}  // namespace flat
