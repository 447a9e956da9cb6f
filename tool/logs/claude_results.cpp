#include "claude_results.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace whittle::inline v0::logs {

bool has_tool_result(const ordered_json& content) {
    return content.is_array() && std::ranges::any_of(content, [](const ordered_json& block) {
               return text_at(block, "type") == "tool_result";
           });
}

void add_results_of(const ordered_json& content, ClaudeResults& results) {
    if (!content.is_array()) return;
    for (const ordered_json& block : content) {
        if (text_at(block, "type") == "tool_result") results.try_emplace(text_at(block, "tool_use_id"), &block);
    }
}

bool is_results_message(const ordered_json& message) {
    return text_at(message, "role") == "user" && message.contains("content") && has_tool_result(message["content"]);
}

ordered_json results_missing(const ordered_json& reply, const ordered_json* results, const ClaudeResults& elsewhere) {
    ClaudeResults held;
    if (results != nullptr) add_results_of(*results, held);
    ordered_json missing = ordered_json::array();
    for (const ordered_json& block : reply) {
        const std::string_view id = text_at(block, "id");
        if (text_at(block, "type") != "tool_use" || id.empty() || held.contains(id)) continue;
        if (const auto known = elsewhere.find(id); known != elsewhere.end()) {
            missing.push_back(*known->second);
            continue;
        }
        missing.push_back({{"type", "tool_result"},
                           {"tool_use_id", std::string(id)},
                           {"content", "[Tool result missing due to internal error]"},
                           {"is_error", true}});
    }
    return missing;
}

void put_results_in_front(ordered_json blocks, ordered_json& content) {
    for (ordered_json& block : content) blocks.push_back(std::move(block));
    content = std::move(blocks);
}

std::vector<ordered_json> with_results(std::vector<ordered_json> kept, const ClaudeResults& results) {
    std::vector<ordered_json> closed;
    for (std::size_t at = 0; at < kept.size(); ++at) {
        closed.push_back(std::move(kept[at]));
        const ordered_json& reply = closed.back();
        if (text_at(reply, "role") != "assistant" || tree_at(reply, "content") == nullptr) continue;
        const bool is_answered = at + 1 < kept.size() && is_results_message(kept[at + 1]);
        ordered_json* const held = is_answered ? &kept[at + 1]["content"] : nullptr;
        ordered_json missing = results_missing(reply["content"], held, results);
        if (missing.empty()) continue;
        if (held != nullptr) {
            put_results_in_front(std::move(missing), *held);
        } else {
            closed.push_back({{"role", "user"}, {"content", std::move(missing)}});
        }
    }
    return closed;
}

}  // namespace whittle::inline v0::logs
