// Stands in for a runtime whose messages are lists of blocks: results travel in the user's messages, arguments are
// parsed JSON. Nothing in this file knows of whittle.
#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace blocks {

struct text {
    std::string value;
};
struct tool_use {
    std::string id;
    std::string name;
    nlohmann::json input;
};
struct tool_result {
    std::string id;
    std::string content;
    bool failed = false;
};

struct message {
    enum class from { user, model } sender = from::user;
    std::vector<std::variant<text, tool_use, tool_result>> content{};
};

struct hooks {
    std::function<void(std::vector<message>&)> before_request;
    std::function<void(const message& reply)> after_reply;
    std::function<void(tool_result&)> after_tool;
};

inline std::vector<message> run(std::string task, const std::function<message(const std::vector<message>&)>& model,
                                const std::function<tool_result(const tool_use&)>& tool, const hooks& on) {
    std::vector<message> list{{message::from::user, {text{std::move(task)}}}};
    for (;;) {
        on.before_request(list);
        list.push_back(model(list));
        on.after_reply(list.back());
        message results;
        for (const auto& block : list.back().content) {
            const auto* use = std::get_if<tool_use>(&block);
            if (use == nullptr) continue;
            tool_result result = tool(*use);
            on.after_tool(result);
            results.content.emplace_back(std::move(result));
        }
        if (results.content.empty()) return list;
        list.push_back(std::move(results));
    }
}

}  // namespace blocks
