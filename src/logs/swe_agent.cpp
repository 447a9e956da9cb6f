#include "entries.hpp"
#include "readers.hpp"
#include "records.hpp"
#include "whittle/adapter/detail/json_tree.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

/// What of a recorded message is sent.
ordered_json as_sent(const ordered_json& recorded) {
    ordered_json message{{"role", text_at(recorded, "role")}};
    for (const char* key : {"content", "tool_calls", "tool_call_id", "name"}) {
        const ordered_json* value = find_member(recorded, key);
        if (value != nullptr && !(value->is_null() && std::string_view(key) != "content")) message[key] = *value;
    }
    const ordered_json* ids = tree_at(recorded, "tool_call_ids");
    if (text_at(recorded, "role") == "tool" && ids != nullptr && ids->is_array() && !ids->empty())
        message["tool_call_id"] = ids->front();
    return message;
}

/// "extra"."response" of mini-swe-agent is the provider's own.
Call call_of_response(const ordered_json& recorded) {
    const ordered_json* extra = tree_at(recorded, "extra");
    const ordered_json* response = extra == nullptr ? nullptr : tree_at(*extra, "response");
    if (response == nullptr) return {};
    Call call{.id = std::string(text_at(*response, "id")), .model = std::string(text_at(*response, "model"))};
    if (const ordered_json* usage = tree_at(*response, "usage")) call.usage = provider_usage(*usage);
    return call;
}

Entry to_entry(const ordered_json& recorded) {
    Entry entry{.message = as_sent(recorded), .time = std::nullopt, .line = 1, .call = std::nullopt};
    if (text_at(recorded, "role") == "assistant") entry.call = call_of_response(recorded);
    return entry;
}

std::map<std::string, Entries> from_history(const ordered_json& history, LogNotes& notes) {
    constexpr std::array<std::string_view, 4> roles{"system", "user", "assistant", "tool"};
    std::map<std::string, Entries> by_agent;
    for (const ordered_json& recorded : history) {
        const std::string_view role = text_at(recorded, "role");
        if (std::ranges::find(roles, role) == roles.end()) {
            ++(role == "exit" ? notes.left_out : notes.unknown)["message/" + std::string(role.substr(0, 64))];
            continue;
        }
        const std::string_view agent = text_at(recorded, "agent");
        by_agent[agent == "primary" || agent == "main" ? "" : std::string(agent)].add(to_entry(recorded));
    }
    return by_agent;
}

/// Without a history: what was answered and what came of it.
Entries from_steps(const ordered_json& steps) {
    Entries entries;
    for (const ordered_json& step : steps) {
        for (const auto& [key, role] : {std::pair{"response", "assistant"}, std::pair{"observation", "user"}}) {
            const ordered_json message{{"role", role}, {"content", text_at(step, key)}};
            entries.add(to_entry(message));
        }
    }
    return entries;
}

std::optional<Usage> sum_of_session(const ordered_json& document) {
    const ordered_json* info = tree_at(document, "info");
    const ordered_json* stats = info == nullptr ? nullptr : tree_at(*info, "model_stats");
    if (stats == nullptr || !stats->contains("tokens_sent")) return std::nullopt;
    return Usage{.input = count_at(*stats, "tokens_sent"),
                 .cache_read = 0,
                 .cache_write = 0,
                 .output = count_at(*stats, "tokens_received")};
}

std::string id_of_document(const ordered_json& document, const LogOptions& options) {
    std::string_view id = text_at(document, "instance_id");
    if (id.empty()) id = text_at(document, "environment");
    std::string stem = stem_of(options);
    if (stem.ends_with(".traj")) stem.resize(stem.size() - 5);
    return id.empty() ? stem : std::string(id);
}

}  // namespace

void read_swe_agent(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    const auto document = read_document(in, options, notes);
    if (!document) return;
    const ordered_json* history = tree_at(*document, "history");
    if (history == nullptr || !history->is_array()) history = tree_at(*document, "messages");
    std::map<std::string, Entries> by_agent;
    if (history != nullptr && history->is_array()) {
        by_agent = from_history(*history, notes);
    } else if (const ordered_json* steps = tree_at(*document, "trajectory"); steps != nullptr && steps->is_array()) {
        by_agent.emplace("", from_steps(*steps));
    }
    const ordered_json* info = tree_at(*document, "info");
    for (auto& [agent, entries] : by_agent) {
        Session session{.format = Format::swe_agent};
        const std::string id = id_of_document(*document, options);
        session.recording.id = agent.empty() ? id : id + "/" + agent;
        if (!agent.empty()) session.parent = id;
        if (info != nullptr) {
            const std::string_view version = text_at(*info, "swe_agent_version");
            session.version = version.empty() ? text_at(*info, "mini_version") : version;
        }
        note_version(notes, session.version, session.version);  // no version of it changed the fields that are read
        entries.finish(session, false, notes);
        if (agent.empty() &&
            std::ranges::none_of(session.calls, [](const Call& call) { return call.usage.has_value(); }))
            session.billed_in_all = sum_of_session(*document);
        hand_over(std::move(session), notes, visit);
    }
}

}  // namespace whittle::inline v0::logs
