// Sources of the format of SWE-agent: trajectories
// (https://github.com/SWE-agent/SWE-agent/blob/main/docs/usage/trajectories.md), mini-swe-agent
// (https://github.com/SWE-agent/mini-swe-agent) (2026-11-25), there `models/litellm_model.py`,
// `models/litellm_response_model.py` and `agents/default.py` at commit `a83fcae` (2026-07-22); attempts:
// `sweagent/agent/agents.py` (https://github.com/SWE-agent/SWE-agent/blob/main/sweagent/agent/agents.py) (`RetryAgent`)
// at `3ea751c` (2026-07-16); what was sent: `add_step_to_trajectory`, `messages` and `handle_error_with_retry` there,
// and `history_processors.py` beside it.
#include "entries.hpp"
#include "readers.hpp"
#include "records.hpp"
#include "responses_form.hpp"
#include "swe_requests.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

/// What a provider billed for a response of either interface; only that it was one where it is a text.
Call call_of_response(const ordered_json& response) {
    Call call{.id = std::string(text_at(response, "id")), .model = std::string(text_at(response, "model"))};
    if (const ordered_json* usage = tree_at(response, "usage")) call.usage = provider_usage(*usage);
    return call;
}

/// "extra"."response" of mini-swe-agent is the provider's own; null: there is none.
const ordered_json* response_of_step(const ordered_json& recorded) {
    const ordered_json* extra = tree_at(recorded, "extra");
    const ordered_json* response = extra == nullptr ? nullptr : find_member(*extra, "response");
    return response == nullptr || response->is_null() ? nullptr : response;
}

Entry to_entry(const ordered_json& recorded) {
    Entry entry{.message = swe_message_as_sent(recorded), .time = std::nullopt, .line = 1, .call = std::nullopt};
    if (text_at(recorded, "role") != "assistant" || is_set(recorded, "is_demo")) return entry;
    const ordered_json* response = response_of_step(recorded);
    entry.call = response == nullptr ? Call{} : call_of_response(*response);
    return entry;
}

/// A response of the Responses interface in place of a message.
void add_response(const ordered_json& recorded, Entries& entries, LogNotes& notes) {
    Call call = call_of_response(recorded);
    const ordered_json response = to_chat_response(recorded, notes);
    const ordered_json* choices = tree_at(response, "choices");
    if (choices == nullptr) return entries.bill_elsewhere(std::move(call));
    entries.add({.message = choices->front()["message"], .time = std::nullopt, .line = 1, .call = std::move(call)});
}

/// Items of the Responses interface, such as results; those of kinds that are not known are counted.
void add_input_item(const ordered_json& recorded, Entries& entries, LogNotes& notes) {
    const ordered_json request = to_chat_request({{"input", ordered_json::array({recorded})}}, notes);
    for (const ordered_json& message : request["messages"]) entries.add(to_entry(message));
}

/// A message; or what a Responses model of mini-swe-agent has instead.
void add_recorded(const ordered_json& recorded, Entries& entries, LogNotes& notes) {
    if (text_at(recorded, "object") == "response") return add_response(recorded, entries, notes);
    if (text_at(recorded, "type").empty()) {
        entries.add(to_entry(recorded));
    } else {
        add_input_item(recorded, entries, notes);
    }
    // A reply that the agent could not read is not sent again, but stands beside what it says to that.
    const ordered_json* unread = response_of_step(recorded);
    if (unread != nullptr && text_at(recorded, "role") != "assistant")
        entries.bill_elsewhere(call_of_response(*unread));
}

std::map<std::string, Entries> from_history(const ordered_json& history, LogNotes& notes) {
    constexpr std::array<std::string_view, 4> roles{"system", "user", "assistant", "tool"};
    std::map<std::string, Entries> by_agent;
    for (const ordered_json& recorded : history) {
        const std::string_view role = text_at(recorded, "role");
        const bool has_role = std::ranges::find(roles, role) != roles.end();
        const bool is_of_responses =
            role.empty() && (text_at(recorded, "object") == "response" || !text_at(recorded, "type").empty());
        if (!has_role && !is_of_responses) {
            ++(role == "exit" ? notes.left_out : notes.unknown)["message/" + std::string(role.substr(0, 64))];
            continue;
        }
        const std::string_view agent = text_at(recorded, "agent");
        add_recorded(recorded, by_agent[agent == "primary" || agent == "main" ? "" : std::string(agent)], notes);
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

std::optional<Usage> sum_in(const ordered_json& document, const char* name) {
    const ordered_json* info = tree_at(document, "info");
    const ordered_json* stats = info == nullptr ? nullptr : tree_at(*info, name);
    if (stats == nullptr || !stats->contains("tokens_sent")) return std::nullopt;
    return Usage{.uncached_input = count_at(*stats, "tokens_sent"),
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

/// A trajectory: a document, or an attempt of one.
void read_trajectory(ordered_json& trajectory, const std::string& id, std::optional<Usage> sum, LogNotes& notes,
                     VisitSession visit) {
    const ordered_json* history = tree_at(trajectory, "history");
    if (history == nullptr || !history->is_array()) history = tree_at(trajectory, "messages");
    const auto steps = trajectory.is_object() ? trajectory.find("trajectory") : trajectory.end();
    const bool has_steps = steps != trajectory.end() && steps->is_array();
    std::map<std::string, Entries> by_agent;
    if (history != nullptr && history->is_array()) {
        by_agent = from_history(*history, notes);
    } else if (has_steps) {
        by_agent.emplace("", from_steps(*steps));
    }
    if (has_steps && by_agent.contains("")) take_sent_requests(*steps, by_agent[""], notes);
    const ordered_json* info = tree_at(trajectory, "info");
    for (auto& [agent, entries] : by_agent) {
        Session session{.format = Format::swe_agent};
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
            session.billed_in_all = sum;
        hand_over(std::move(session), notes, visit);
    }
}

/// All attempts at a task. What the document holds beside them is a copy of the best one, but with the sum of all; the
/// one who chose among them has sums alone, which the best one bears.
void read_attempts(const ordered_json& document, ordered_json& attempts, const std::string& id, LogNotes& notes,
                   VisitSession visit) {
    const ordered_json* info = tree_at(document, "info");
    const std::size_t best = info == nullptr ? 0 : static_cast<std::size_t>(count_at(*info, "best_attempt_idx"));
    for (std::size_t i = 0; i < attempts.size(); ++i) {
        std::optional<Usage> sum = sum_in(attempts[i], "model_stats");
        const auto of_choice = sum_in(document, "rloop_model_stats");
        if (i == best && sum && of_choice) *sum += *of_choice;
        read_trajectory(attempts[i], id + "/attempt_" + std::to_string(i), sum, notes, visit);
    }
}

}  // namespace

void read_swe_agent(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    auto document = read_document(in, options, notes);
    if (!document) return;
    const std::string id = id_of_document(*document, options);
    const auto attempts = document->is_object() ? document->find("attempts") : document->end();
    if (attempts != document->end() && attempts->is_array() && !attempts->empty())
        return read_attempts(*document, *attempts, id, notes, visit);
    read_trajectory(*document, id, sum_in(*document, "model_stats"), notes, visit);
}

}  // namespace whittle::inline v0::logs
