// Sources of the format of Claude Code: entry types
// (https://github.com/empathic/toolpath/blob/main/docs/agents/formats/claude-code/entry-types.md) and usage
// (https://github.com/empathic/toolpath/blob/main/docs/agents/formats/claude-code/usage.md) of toolpath's format notes,
// session continuation (https://blog.fsck.com/releases/2026/02/22/claude-code-session-continuation), ccusage
// (https://github.com/ryoppippi/ccusage) (2026-11-25), its #1115 (https://github.com/ccusage/ccusage/issues/1115) of
// advisors and #1635 (https://github.com/ccusage/ccusage/issues/1635) of gateways, pixel-agents#93
// (https://github.com/pixel-agents-hq/pixel-agents/issues/93) of progress records (2026-11-28), and compaction
// (https://platform.claude.com/docs/en/build-with-claude/compaction) of Anthropic's interface; of the agent, as public
// repositories have its files, `utils/messages.ts` (`normalizeMessagesForAPI`: local commands;
// `ensureToolResultPairing`: calls without a result; `Attachment`, `SystemMessage`: kinds),
// `services/compact/compact.ts` (`annotateBoundaryWithPreservedSegment`, `partialCompactConversation`) and
// `utils/sessionStorage.ts` (`sourceToolAssistantUUID`) (2026-11-26).
#include "claude_kinds.hpp"
#include "claude_thread.hpp"
#include "readers.hpp"
#include "records.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <span>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

constexpr std::string_view known_claude_code = "2.1";

class ClaudeCodeLog {
public:
    ClaudeCodeLog(const LogOptions& options, LogNotes& notes, VisitSession visit)
        : options_(options), notes_(notes), visit_(visit) {}

    /// Takes what a message says out of the record.
    void add(ordered_json& record, std::size_t line) {
        const std::string_view type = text_at(record, "type");
        if (id_.empty()) id_ = text_at(record, "sessionId");
        if (type.empty()) return note_damage(notes_, line, "a record without a type");
        if (type == "progress") return add_progress(record, line);
        if (std::ranges::find(claude_side_records, type) != claude_side_records.end()) {
            if (!text_at(record, "uuid").empty()) thread_of(record).pass(record);
            ++notes_.left_out[std::string(type)];
            return;
        }
        if (type != "user" && type != "assistant" && type != "system" && type != "attachment" &&
            type != "compact_boundary") {
            ++notes_.unknown[std::string(type.substr(0, 64))];
            return;
        }
        add_message(type, record, line);
    }

    void finish() {
        for (auto& [key, thread] : threads_) finish(key, thread);
    }

private:
    void add_message(std::string_view type, ordered_json& record, std::size_t line) {
        ClaudeThread& thread = thread_of(record);
        if (const std::string_view version = text_at(record, "version"); !version.empty()) {
            note_version(notes_, version, known_claude_code);
            thread.version = version;
        }
        if (const std::string_view folder = text_at(record, "cwd"); !folder.empty()) thread.folder = folder;
        add_to(thread, type, record, line);
    }

    /// Some versions wrote what a sub-agent said and got into the log of who started it. Other progress was only shown.
    void add_progress(ordered_json& record, std::size_t line) {
        if (!text_at(record, "uuid").empty()) thread_of(record).pass(record);
        const auto data = record.find("data");
        const std::string_view kind = data == record.end() ? std::string_view() : text_at(*data, "type");
        const ordered_json* step = data == record.end() ? nullptr : tree_at(*data, "message");
        const std::string type(step == nullptr ? std::string_view() : text_at(*step, "type"));
        if ((type == "user" || type == "assistant") && tree_at(*step, "message") != nullptr)
            return add_message(type, as_record_of_agent(record, *data), line);
        ++notes_.left_out[kind.empty() ? "progress" : "progress/" + std::string(kind.substr(0, 64))];
    }

    /// The step within a record of progress, as the sub-agent's own log has it.
    static ordered_json& as_record_of_agent(const ordered_json& record, ordered_json& data) {
        std::string_view agent = text_at(data, "agentId");
        if (agent.empty()) agent = text_at(record, "parentToolUseID");
        ordered_json& step = data["message"];
        step["agentId"] = agent;
        step["isSidechain"] = true;
        for (const char* key : {"version", "cwd"}) {
            if (const std::string_view text = text_at(record, key); !text.empty()) step[key] = text;
        }
        return step;
    }

    void add_to(ClaudeThread& thread, std::string_view type, ordered_json& record, std::size_t line) {
        if (type == "assistant") return add_assistant(thread, record, line);
        if (type == "user") return thread.add_user(record, line, notes_);
        if (type == "attachment") return add_attachment(thread, record, line);
        const std::string_view subtype = type == "system" ? text_at(record, "subtype") : type;
        if (subtype == "compact_boundary") return thread.compact(record, notes_);
        if (subtype == "local_command" && !text_at(record, "content").empty())
            return thread.add_prompt(text_at(record, "content"), record, line, false, notes_);
        thread.pass(record);
        if (subtype.empty()) {
            ++notes_.left_out["system"];
        } else {
            count_kind(claude_silent_notices, "system/", subtype);
        }
    }

    void count_kind(std::span<const std::string_view> known, std::string kind, std::string_view sub_kind) {
        const bool is_known = std::ranges::find(known, sub_kind) != known.end();
        ++(is_known ? notes_.left_out : notes_.unknown)[kind.append(sub_kind.substr(0, 64))];
    }

    void add_assistant(ClaudeThread& thread, ordered_json& record, std::size_t line) {
        const ordered_json* message = tree_at(record, "message");
        if (!is_set(record, "isApiErrorMessage") && (message == nullptr || text_at(*message, "model") != "<synthetic>"))
            return thread.add_reply(record, line, notes_);
        thread.pass(record);
        ++notes_.left_out["assistant, made by the agent"];
    }

    /// Prompts that were queued are sent; how other attachments were worded is not in the log.
    void add_attachment(ClaudeThread& thread, const ordered_json& record, std::size_t line) {
        const ordered_json* attachment = tree_at(record, "attachment");
        const std::string_view type = attachment == nullptr ? std::string_view() : text_at(*attachment, "type");
        const ordered_json* prompt = attachment == nullptr ? nullptr : detail::find_member(*attachment, "prompt");
        if (type == "queued_command" && prompt != nullptr && (prompt->is_string() || prompt->is_array()))
            return thread.add_prompt(*prompt, record, line, true, notes_);
        thread.pass(record);
        count_kind(claude_attachments, "attachment/", type);
    }

    /// "" is the main conversation. Sub-agents that have no id are told apart by the records they begin with.
    ClaudeThread& thread_of(const ordered_json& record) {
        std::string key;
        if (is_set(record, "isSidechain")) {
            key = text_at(record, "agentId");
            if (key.empty()) key = side_key_of(record);
        }
        const auto known = by_key_.find(key);
        if (known != by_key_.end() && !known->second->restarts(record)) return *known->second;
        threads_.emplace_back(key, ClaudeThread(copies_));
        by_key_.insert_or_assign(std::move(key), &threads_.back().second);
        return threads_.back().second;
    }

    std::string side_key_of(const ordered_json& record) {
        const auto parent = sides_.find(std::string(text_at(record, "parentUuid")));
        const ordered_json* named = detail::find_member(record, "parentUuid");
        const bool is_root = named == nullptr || named->is_null() || last_side_.empty();
        if (parent == sides_.end() && is_root) last_side_ = "side-" + std::to_string(++side_count_);
        std::string key = parent == sides_.end() ? last_side_ : parent->second;
        if (const std::string_view id = text_at(record, "uuid"); !id.empty()) sides_.emplace(id, key);
        return key;
    }

    void finish(const std::string& key, ClaudeThread& thread) {
        if (thread.empty()) return;
        Session session{.format = Format::claude_code, .version = thread.version, .folder = thread.folder};
        const std::string base = id_.empty() ? stem_of(options_) : id_;
        const int number = ++used_[key];
        session.recording.id = key.empty() ? base : base + "/" + key;
        if (number > 1) session.recording.id += "#" + std::to_string(number);
        if (!key.empty()) session.parent = base;
        thread.close();
        thread.entries().finish(session, true, notes_);
        thread = ClaudeThread(copies_);
        hand_over(std::move(session), notes_, visit_);
    }

    const LogOptions& options_;
    LogNotes& notes_;
    VisitSession visit_;
    std::string id_{};
    CopyBudget copies_{};
    std::deque<std::pair<std::string, ClaudeThread>> threads_{};  // in the order in which they began
    std::map<std::string, ClaudeThread*> by_key_{};               // the newest of each key
    std::map<std::string, int> used_{};
    std::unordered_map<std::string, std::string> sides_{};  // uuid -> key
    std::string last_side_{};
    int side_count_ = 0;
};

}  // namespace

void read_claude_code(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    Records records(in, options, notes);
    ClaudeCodeLog log(options, notes, visit);
    while (auto record = records.next()) log.add(*record, records.line());
    log.finish();
}

}  // namespace whittle::inline v0::logs
