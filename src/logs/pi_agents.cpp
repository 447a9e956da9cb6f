#include "pi_agents.hpp"

#include "whittle/adapter/detail/json_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

/// The messages of a sub-agent; null: there are none.
ordered_json* pi_messages_of(ordered_json& result) {
    if (!result.is_object()) return nullptr;
    const auto messages = result.find("messages");
    if (messages == result.end() || !messages->is_array()) return nullptr;
    const bool are_all =
        std::ranges::all_of(*messages, [](const ordered_json& message) { return !text_at(message, "role").empty(); });
    return are_all && !messages->empty() ? &*messages : nullptr;
}

bool holds_usage(const ordered_json& messages) {
    return std::ranges::any_of(messages, [](const ordered_json& message) {
        return text_at(message, "role") == "assistant" && tree_at(message, "usage") != nullptr;
    });
}

}  // namespace

bool PiAgents::take_from(ordered_json& result, const Session& session, std::size_t line) {
    const auto details = result.find("details");
    if (details == result.end() || !details->is_object()) return false;
    const auto results = details->find("results");
    if (results == details->end() || !results->is_array()) return false;
    bool are_billed = false;
    int number = 0;
    for (ordered_json& one : *results) {
        ++number;
        ordered_json* messages = pi_messages_of(one);
        if (messages == nullptr) continue;
        are_billed = are_billed || holds_usage(*messages);
        agents_.push_back({.id = fmt::format("{}/{}#{}", session.recording.id, text_at(result, "toolCallId"), number),
                           .parent = session.recording.id,
                           .folder = session.folder,
                           .messages = std::move(*messages),
                           .line = line});
    }
    return are_billed;
}

std::optional<PiAgent> PiAgents::next() {
    if (agents_.empty()) return std::nullopt;
    PiAgent agent = std::move(agents_.front());
    agents_.pop_front();
    return agent;
}

}  // namespace whittle::inline v0::logs
