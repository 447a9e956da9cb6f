#include "pi_agents.hpp"

#include "whittle/provider/detail/json_tree.hpp"

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
        PiAgent& agent = agents_.emplace_back();
        agent.line = line;
        agent.messages = std::move(*messages);
        name(agent, session, text_at(result, "toolCallId"), number);
    }
    return are_billed;
}

void PiAgents::name(PiAgent& agent, const Session& session, std::string_view call, int number) {
    const std::string& parent = session.recording.id;
    if (!names_.take(2 * parent.size() + session.folder.size() + call.size())) {  // of a file that was made for that
        agent.id = fmt::format("agent-{}", ++unnamed_);
        return;
    }
    agent.id = fmt::format("{}/{}#{}", parent, call, number);
    agent.parent = parent;
    agent.folder = session.folder;
}

std::optional<PiAgent> PiAgents::next() {
    if (agents_.empty()) return std::nullopt;
    PiAgent agent = std::move(agents_.front());
    agents_.pop_front();
    return agent;
}

}  // namespace whittle::inline v0::logs
