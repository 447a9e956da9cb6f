// Sources of the format of Qwen Code: `packages/core/src/services`
// (https://github.com/QwenLM/qwen-code/tree/main/packages/core/src/services) (`chatRecordingService.ts`,
// `sessionService.ts`: `forkSession`; `session-api-history.ts`: what is sent), `utils/transcript-records.ts` and
// `utils/conversation-chain.ts` (the branch), `agents/agent-transcript.ts`, `agents/background-agent-resume.ts`,
// `telemetry/loggers.ts`, `core/openaiContentGenerator/converter.ts` and `core/anthropicContentGenerator/usage.ts`
// (counts) beside it, as the npm packages `@qwen-code/qwen-code` 0.1.4, 0.5.0, 0.12.0, 0.15.6, 0.21.2, 0.23.0 and
// 0.24.4 have them; the logs named below; ccusage
// (https://github.com/ryoppippi/ccusage/tree/main/rust/crates/ccusage/src/adapter/qwen) (2026-11-28). Checked: in 15
// logs that versions 0.12.0 to 0.24.4 wrote against a server of ours, with compressions, sub-agents, a fork and a
// rewind, the requests of all 42 replies are what the server got, message by message, without what the log lacks.
#include "qwen_thread.hpp"
#include "readers.hpp"
#include "records.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

constexpr std::string_view known_qwen_code = "0.24";

/// The conversations of one file: mostly one.
class QwenCodeLog {
public:
    QwenCodeLog(const LogOptions& options, LogNotes& notes) : options_(options), notes_(notes) {}

    void add(ordered_json& record, std::size_t line) {
        constexpr std::array<std::string_view, 4> types{"user", "assistant", "tool_result", "system"};
        const std::string_view type = text_at(record, "type");
        if (type.empty()) return note_damage(notes_, line, "a record without a type");
        if (std::ranges::find(types, type) == types.end()) {
            ++notes_.unknown[std::string(type.substr(0, 64))];
            return;
        }
        if (type != "system" && type != "assistant" && tree_at(record, "message") == nullptr)
            return note_damage(notes_, line, "a message without content");
        QwenThread& thread = thread_of(record);
        if (const std::string_view version = text_at(record, "version"); !version.empty()) {
            note_version(notes_, version, known_qwen_code);
            thread.version = version;
        }
        if (thread.folder.empty()) thread.folder = text_at(record, "cwd");
        if (text_at(record, "subtype") == "parent_session") {
            if (const ordered_json* payload = tree_at(record, "systemPayload"))
                thread.parent = text_at(*payload, "parentSessionId");
        }
        thread.add(record, line, notes_);
    }

    void finish(VisitSession visit) {
        for (Conversation& one : conversations_) {
            Session session{.format = Format::qwen_code, .parent = one.thread.parent};
            session.recording.id = one.session.empty() ? stem_of(options_) : one.session;
            if (!one.agent.empty()) {
                session.parent = session.recording.id;
                session.recording.id += "/" + one.agent;
            }
            one.thread.finish(session, notes_);
            hand_over(std::move(session), notes_, visit);
        }
    }

private:
    struct Conversation {
        std::string session{};
        std::string agent{};  ///< the id of the sub-agent; empty: it is none
        QwenThread thread;
    };

    QwenThread& thread_of(const ordered_json& record) {
        std::string session(text_at(record, "sessionId"));
        std::string agent(text_at(record, "agentId"));
        const auto [known, is_new] = places_.try_emplace(session + "\n" + agent, conversations_.size());
        if (is_new) {
            const std::string_view name = text_at(record, "agentName");
            const std::string called(name.empty() ? std::string_view(agent) : name);
            conversations_.push_back({std::move(session), std::move(agent), QwenThread(called)});
        }
        return conversations_[known->second].thread;
    }

    const LogOptions& options_;
    LogNotes& notes_;
    std::deque<Conversation> conversations_{};
    std::unordered_map<std::string, std::size_t> places_{};  // by session and agent
};

}  // namespace

void read_qwen_code(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    Records records(in, options, notes);
    QwenCodeLog log(options, notes);
    while (auto record = records.next()) log.add(*record, records.line());
    log.finish(visit);
}

}  // namespace whittle::inline v0::logs
