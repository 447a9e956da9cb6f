// Sources of the format of Copilot CLI: `schemas/session-events.schema.json` and the generated types of the npm
// packages `@github/copilot` (https://www.npmjs.com/package/@github/copilot) 0.0.400 and 1.0.60 and
// `@github/copilot-sdk` (https://www.npmjs.com/package/@github/copilot-sdk) 1.0.14, and of the former two what the
// program does with events on resuming, compacting, rewinding, forking and ending (2026-11-28); copilot-sdk
// (https://github.com/github/copilot-sdk) (`nodejs/src/generated/session-events.ts`: when fields came;
// `docs/features/custom-agents.md`; `cc0438d`, 2026-08-21); copilot-cli#3994
// (https://github.com/github/copilot-cli/issues/3994) (`/new`); for input that holds the cache codeburn#684
// (https://github.com/getagentseal/codeburn/pull/684) and tokentelemetry#133
// (https://github.com/VasiHemanth/tokentelemetry/pull/133); sessions that 0.0.354 and 1.0.80 wrote, as
// vscode-copilot-chat
// (https://github.com/microsoft/vscode-copilot-chat/tree/main/src/extension/agents/copilotcli/node/test/fixtures) and
// pixtuoid (https://github.com/IvanWng97/pixtuoid) (`tests/sources`) have them; for sums of one run
// copilot-arewecooked#45 (https://github.com/PanAchy/copilot-arewecooked/pull/45) (2026-05-02) and splitrail#157
// (https://github.com/Piebald-AI/splitrail/pull/157), for sums that go on codeburn#946
// (https://github.com/getagentseal/codeburn/pull/946) (2026-08-20) and ccusage#1721
// (https://github.com/ccusage/ccusage/issues/1721), for those that begin anew at a compaction
// `docs/providers/copilot.md` (https://github.com/getagentseal/codeburn/blob/main/docs/providers/copilot.md) of
// codeburn (`ed8fa3a`, 2026-08-22).
#include "copilot_bills.hpp"
#include "copilot_kinds.hpp"
#include "copilot_thread.hpp"
#include "readers.hpp"
#include "records.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <deque>
#include <filesystem>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

constexpr std::string_view known_copilot = "1.0";

/// Of a text that is written into much: "" where it is so long that it is no name.
std::string_view copilot_name(std::string_view text) { return text.size() <= 512 ? text : std::string_view(); }

/// The name of a model; "auto" is none.
std::string_view copilot_model(std::string_view text) { return text == "auto" ? "" : copilot_name(text); }

/// Of "session-state/<id>/events.jsonl" it is the folder's, of older files their own.
std::string copilot_id_of_file(const LogOptions& options) {
    const std::string stem = stem_of(options);
    const std::string folder = std::filesystem::path(options.name).parent_path().filename().string();
    return stem == "events" && !folder.empty() ? folder : stem;
}

/// A sub-agent. Its events stand among those of the agent that started it.
struct CopilotAgent {
    std::string model{};
    std::string parent{};  ///< the sub-agent that started it; empty: the main agent
    std::string system{};
    std::optional<std::string> prompt{};  ///< of the call that started it, until it is in its conversation
    CopilotThread* thread = nullptr;      ///< null: it said nothing that is in the log
};

/// A call that may start a sub-agent.
struct CopilotTask {
    std::string agent{};  ///< who made it
    std::string prompt{};
};

/// What an event says beside its data.
struct CopilotEvent {
    std::string_view type{};
    std::string_view id{};
    std::string_view agent{};  ///< empty: the main one
    const ordered_json& data;
    CopilotStamp stamp{};
};

class CopilotLog {
public:
    CopilotLog(const LogOptions& options, LogNotes& notes) : notes_(notes) {
        session_.recording.id = copilot_id_of_file(options);
        threads_.emplace_back(copies_);
    }

    void add(const ordered_json& record, std::size_t line) {
        if (tree_at(record, "chatMessages") != nullptr)
            return add_old_session(record, {.time = std::nullopt, .line = line});
        const std::string_view type = text_at(record, "type");
        if (type.empty()) return note_damage(notes_, line, "an event without a type");
        const std::string_view id = text_at(record, "id");
        if (!id.empty() && !seen_.emplace(id).second) {
            ++notes_.left_out["repeated record"];
            return;
        }
        const ordered_json* data = tree_at(record, "data");
        const ordered_json& given = data == nullptr ? nothing_ : *data;
        add_event({.type = type,
                   .id = id,
                   .agent = agent_of(record, given),
                   .data = given,
                   .stamp = {to_seconds(text_at(record, "timestamp")), line}});
    }

    void finish(VisitSession visit) {
        for (Call& call : bills_.take_compactions()) main().entries().bill_elsewhere(std::move(call));
        if (!unbilled_.empty())
            notes_.unknown["call that no session.shutdown bills"] += static_cast<std::int64_t>(unbilled_.size());
        for (CopilotThread& thread : threads_) thread.close();
        main().entries().finish(session_, false, notes_);
        Session of_agents{.format = Format::copilot_cli, .version = session_.version, .folder = session_.folder};
        of_agents.recording.id = session_.recording.id;
        hand_over(std::move(session_), notes_, visit);
        hand_over_agents(of_agents, visit);
    }

private:
    [[nodiscard]] CopilotThread& main() { return threads_.front(); }

    /// Newer events name the sub-agent, older ones the call that started it.
    [[nodiscard]] std::string_view agent_of(const ordered_json& record, const ordered_json& data) const {
        if (const std::string_view agent = copilot_name(text_at(record, "agentId")); !agent.empty()) return agent;
        const std::string_view call = copilot_name(text_at(data, "parentToolCallId"));
        const auto known = call.empty() ? agents_by_call_.end() : agents_by_call_.find(std::string(call));
        return known == agents_by_call_.end() ? call : std::string_view(known->second);
    }

    void add_event(const CopilotEvent& event) {
        if (event.type == "user.message") return add_prompt(event);
        if (event.type == "assistant.message") return add_reply(event);
        if (event.type == "tool.execution_start") return start_call(event);
        if (event.type == "tool.execution_complete") return add_result(event);
        if (event.type == "system.message") return add_system(event);
        if (event.type == "system.notification") return add_notification(event);
        if (event.type == "subagent.started") return start_agent(event);
        if (event.type == "session.import_legacy") return import(event);
        if (event.type == "tool.user_requested") return leave_out(event.type);
        if (event.type.starts_with("session.") && add_event_of_session(event)) return;
        if (event.type == "abort") return main().interrupt(event.stamp);
        const bool is_known = is_copilot_side_event(event.type);
        ++(is_known ? notes_.left_out : notes_.unknown)[std::string(event.type.substr(0, 64))];
    }

    /// False: it is of another kind.
    bool add_event_of_session(const CopilotEvent& event) {
        if (event.type == "session.start") {
            begin(event);
        } else if (event.type == "session.resume") {
            resume(event);
        } else if (event.type == "session.model_change") {
            if (const std::string_view model = text_at(event.data, "newModel"); !model.empty())
                model_ = copilot_model(model);
        } else if (event.type == "session.compaction_start") {
            thread_of(event.agent).begin_compaction();
        } else if (event.type == "session.compaction_complete") {
            compact(event);
        } else if (event.type == "session.context_cleared") {
            thread_of(event.agent).clear();
        } else if (event.type == "session.usage_checkpoint") {
            bills_.note_running_sums();
            leave_out(event.type);
        } else if (event.type == "session.shutdown") {
            shut_down(event);
        } else {
            return false;
        }
        return true;
    }

    void leave_out(std::string_view kind) { ++notes_.left_out[std::string(kind)]; }

    void begin(const CopilotEvent& event) {
        if (std::exchange(has_begun_, true)) return leave_out("session.start of an earlier session");
        if (const std::string_view id = copilot_name(text_at(event.data, "sessionId")); !id.empty())
            session_.recording.id = id;
        session_.parent = copilot_name(text_at(event.data, "detachedFromSpawningParentSessionId"));
        session_.version = copilot_name(text_at(event.data, "copilotVersion"));
        note_version(notes_, session_.version, known_copilot);
        take_context(event.data);
    }

    void resume(const CopilotEvent& event) {
        take_context(event.data);
        const bool continues = is_set(event.data, "sessionWasActive") || is_set(event.data, "continuePendingWork");
        if (!continues) main().interrupt(event.stamp);
    }

    void take_context(const ordered_json& data) {
        if (const std::string_view model = text_at(data, "selectedModel"); !model.empty())
            model_ = copilot_model(model);
        const ordered_json* context = tree_at(data, "context");
        if (context == nullptr) return;
        if (const std::string_view folder = copilot_name(text_at(*context, "cwd")); !folder.empty())
            session_.folder = folder;
    }

    /// It is written again with every prompt.
    void add_system(const CopilotEvent& event) {
        const std::string_view text = text_at(event.data, "content");
        std::string& system =
            event.agent.empty() ? session_.recording.system : agents_[std::string(event.agent)].system;
        const bool is_new = text_at(event.data, "role") == "system" && !text.empty() && system.empty();
        if (!is_new) return leave_out("system.message");
        system = text;
    }

    /// What the model was sent of a prompt stands beside what the terminal shows.
    void add_prompt(const CopilotEvent& event) {
        const std::string_view shown = text_at(event.data, "content");
        const std::string_view sent = text_at(event.data, "transformedContent");
        if (const ordered_json* attached = tree_at(event.data, "attachments")) {
            for (std::size_t i = 0; i < attached->size(); ++i) leave_out("attachment");
        }
        if (shown.empty() && sent.empty()) return leave_out("user.message without a text");
        const bool is_typed = text_at(event.data, "source").empty();
        CopilotThread& thread = event.agent.empty() ? thread_of_prompt(std::string(shown)) : thread_of(event.agent);
        if (!event.agent.empty()) agents_[std::string(event.agent)].prompt.reset();
        thread.add_user(std::string(sent.empty() ? shown : sent), is_typed ? shown : std::string_view(), event.stamp);
    }

    /// The agent speaks for the user, unless it is for the terminal alone.
    void add_notification(const CopilotEvent& event) {
        const ordered_json* kind = tree_at(event.data, "kind");
        const std::string_view text = text_at(event.data, "content");
        if (text.empty() || (kind != nullptr && text_at(*kind, "type") == "instruction_discovered"))
            return leave_out("system.notification");
        thread_of(event.agent).add_user(std::string(text), {}, event.stamp);
    }

    void add_reply(const CopilotEvent& event) {
        CopilotThread& thread = thread_of(event.agent);
        if (!event.agent.empty()) begin_with_prompt(agents_[std::string(event.agent)], event.stamp);
        note_tasks(event);
        const auto reply = thread.add_reply(event.data, call_of(event), event.stamp);
        bills_.add_output(reply.new_output);
        if (!reply.at) return leave_out("assistant.message without a text and calls");
        if (reply.is_new && thread.is_call(*reply.at)) unbilled_.emplace_back(&thread, *reply.at);
    }

    /// nullopt: the agent made the message up, such as to read what a sub-agent found. Versions that tell nothing of
    /// any call did so as well, and cannot be told.
    [[nodiscard]] std::optional<Call> call_of(const CopilotEvent& event) {
        const bool names_call = event.data.contains("apiCallId") || event.data.contains("outputTokens");
        names_calls_ = names_calls_ || names_call;
        if (!names_call && names_calls_ && !event.data.contains("model")) return std::nullopt;
        Call call{.id = std::string(copilot_name(text_at(event.data, "apiCallId"))),
                  .model = model_of(event),
                  .unrecorded_output = count_at(event.data, "outputTokens")};
        if (call.id.empty() && !event.id.empty()) call.bill_id = "copilot/" + std::string(event.id.substr(0, 128));
        return call;
    }

    [[nodiscard]] std::string model_of(const CopilotEvent& event) {
        if (const std::string_view model = copilot_model(text_at(event.data, "model")); !model.empty())
            return std::string(model);
        return event.agent.empty() ? model_ : agents_[std::string(event.agent)].model;
    }

    void note_tasks(const CopilotEvent& event) {
        const ordered_json* requests = tree_at(event.data, "toolRequests");
        if (requests == nullptr) return;
        for (const ordered_json& request : *requests) note_task(request, event.agent);
    }

    void note_task(const ordered_json& call, std::string_view agent) {
        const ordered_json* arguments = tree_at(call, "arguments");
        if (arguments == nullptr) return;
        const std::string_view prompt = text_at(*arguments, "prompt");
        const std::string_view id = text_at(call, "toolCallId");
        if (!prompt.empty() && !id.empty())
            tasks_.try_emplace(std::string(id), CopilotTask{std::string(agent), std::string(prompt)});
    }

    void start_call(const CopilotEvent& event) {
        note_task(event.data, event.agent);
        thread_of(event.agent).start_call(event.data);
        leave_out(event.type);
    }

    void add_result(const CopilotEvent& event) {
        if (is_set(event.data, "isUserRequested")) return leave_out("command that the user ran");
        const ordered_json* result = tree_at(event.data, "result");
        if (result != nullptr && tree_at(*result, "binaryResultsForLlm") != nullptr) leave_out("binaryResultsForLlm");
        thread_of(event.agent).add_result(event.data, event.stamp, notes_);
    }

    void compact(const CopilotEvent& event) {
        bills_.add_compaction(event.data, event.id, model_, event.stamp.time);
        if (!is_set(event.data, "success")) return leave_out("compaction that failed");
        thread_of(event.agent).compact(event.data, notes_);
    }

    void shut_down(const CopilotEvent& event) {
        auto calls = bills_.close(event.data, event.id, event.stamp.time, notes_);
        if (!calls) return leave_out("session.shutdown without a bill");
        for (Call& call : *calls) main().entries().bill_elsewhere(std::move(call));
        for (const auto& [thread, at] : std::exchange(unbilled_, {})) thread->call_at(at).unrecorded_output = 0;
    }

    /// The event may name the sub-agent, and has the call that started it.
    void start_agent(const CopilotEvent& event) {
        const std::string call(copilot_name(text_at(event.data, "toolCallId")));
        const std::string key = event.agent.empty() ? call : std::string(event.agent);
        leave_out(event.type);
        if (key.empty()) return;
        if (!call.empty()) agents_by_call_.insert_or_assign(call, key);
        CopilotAgent& agent = agents_[key];
        agent.model = copilot_model(text_at(event.data, "model"));
        agent.parent = copilot_name(text_at(event.data, "parentId"));
        const auto task = tasks_.find(call);
        if (task == tasks_.end()) return;
        if (agent.parent.empty()) agent.parent = task->second.agent;
        if (agent.thread == nullptr) {
            awaited_.insert_or_assign(task->second.prompt, key);
            agent.prompt = std::move(task->second.prompt);
        }
        tasks_.erase(task);
    }

    /// Of an event without a sub-agent: the first prompt of one may not name it.
    CopilotThread& thread_of_prompt(const std::string& prompt) {
        const auto awaited = awaited_.find(prompt);
        if (awaited == awaited_.end()) return main();
        const std::string key = std::exchange(awaited->second, {});
        awaited_.erase(awaited);
        CopilotAgent& agent = agents_[key];
        if (agent.thread != nullptr) return main();
        agent.prompt.reset();
        return thread_of(key);
    }

    /// Versions up to 1.0.60 wrote the first prompt of a sub-agent into the call alone.
    static void begin_with_prompt(CopilotAgent& agent, const CopilotStamp& stamp) {
        if (!agent.prompt) return;
        const std::string prompt = *std::exchange(agent.prompt, std::nullopt);
        agent.thread->add_user(prompt, {}, stamp);
    }

    CopilotThread& thread_of(std::string_view key) {
        if (key.empty()) return main();
        CopilotAgent& agent = agents_[std::string(key)];
        if (agent.thread != nullptr) return *agent.thread;
        agent.thread = &threads_.emplace_back(copies_);
        keys_.emplace_back(key);
        return *agent.thread;
    }

    void import(const CopilotEvent& event) {
        leave_out(event.type);
        if (const ordered_json* old = tree_at(event.data, "legacySession")) add_old_session(*old, event.stamp);
    }

    /// A session of before there were events: {"sessionId", "chatMessages"}.
    void add_old_session(const ordered_json& old, const CopilotStamp& stamp) {
        if (!std::exchange(has_begun_, true)) {
            const std::string_view id = copilot_name(text_at(old, "sessionId"));
            if (!id.empty()) session_.recording.id = id;
        }
        if (const std::string_view model = text_at(old, "selectedModel"); !model.empty()) model_ = copilot_model(model);
        const ordered_json* messages = tree_at(old, "chatMessages");
        if (messages == nullptr) return;
        for (const ordered_json& message : *messages) {
            if (text_at(message, "role") == "system" && session_.recording.system.empty()) {
                session_.recording.system = text_at(message, "content");
                continue;
            }
            main().add_message(message, {.model = model_}, stamp);
        }
    }

    /// Sub-agents that said something, one after another. Their calls are in the bill of the main one. `facts`: what
    /// they have in common with that.
    void hand_over_agents(const Session& facts, VisitSession visit) {
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            if (threads_[i + 1].entries().empty()) continue;
            Session session = facts;
            session.recording.id = facts.recording.id + "/" + keys_[i];
            const std::string& parent = agents_[keys_[i]].parent;
            const auto known = agents_.find(parent);
            const bool is_nested = known != agents_.end() && known->second.thread != nullptr && parent != keys_[i];
            session.recording.system = std::move(agents_[keys_[i]].system);
            session.parent = is_nested ? facts.recording.id + "/" + parent : facts.recording.id;
            threads_[i + 1].entries().finish(session, false, notes_);
            hand_over(std::move(session), notes_, visit);
        }
    }

    LogNotes& notes_;
    Session session_{.format = Format::copilot_cli};
    const ordered_json nothing_ = ordered_json::object();
    CopyBudget copies_{};
    std::deque<CopilotThread> threads_{};  // the main one, then one for each of the keys
    std::vector<std::string> keys_{};      // of sub-agents
    std::unordered_map<std::string, CopilotAgent> agents_{};
    std::unordered_map<std::string, std::string> agents_by_call_{};
    std::unordered_map<std::string, CopilotTask> tasks_{};    // by id of the call
    std::unordered_map<std::string, std::string> awaited_{};  // by prompt: the sub-agent whose first one it is
    std::unordered_set<std::string> seen_{};                  // ids of events
    CopilotBills bills_{};
    std::vector<std::pair<CopilotThread*, std::size_t>> unbilled_{};  // replies that no session.shutdown stands behind
    std::string model_{};
    bool has_begun_ = false;
    bool names_calls_ = false;  // of a version whose replies tell which call they are of
};

}  // namespace

void read_copilot_cli(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    CopilotLog log(options, notes);
    Records records(in, options, notes);
    while (const auto record = records.next_or_document()) log.add(*record, records.line());
    log.finish(visit);
}

}  // namespace whittle::inline v0::logs
