// Sources of the format of Cline, Roo Code and Kilo Code: of Cline (https://github.com/cline/cline) at tag `v3.89.2`
// (2026-06-11), in `apps/vscode/src`: `core/task/index.ts` (`recursivelyMakeClineRequests`, `resumeTaskFromHistory`),
// `core/task/message-state.ts`, `core/context/context-management/ContextManager.ts`, `shared/messages/content.ts`,
// `shared/getApiMetrics.ts`, `integrations/checkpoints/index.ts`, `core/api/providers`; at commit `21cb8d2`
// (2026-08-22): `sdk/packages/core/docs/messages-contract-v1.md`, there `src/session/models/session-compaction.ts`,
// `src/services/session-data.ts` and `fixtures/session`, `apps/vscode/src/sdk/legacy-task-handling.ts`. Of Roo Code
// (https://github.com/RooCodeInc/Roo-Code) at `cb83656` (2026-04-14), in `src`: `core/task/Task.ts`,
// `core/condense/index.ts` (`getEffectiveApiHistory`), `core/context-management/index.ts`, `core/task-persistence`,
// `shared/cost.ts` and its change #8954 (https://github.com/RooCodeInc/Roo-Code/pull/8954) (2025-10-31), at tag
// `v3.36.0` the older condensing. Of Kilo Code `packages/opencode/src/global/index.ts` in its repository
// (https://github.com/Kilo-Org/kilocode) and codeburn#404 (https://github.com/getagentseal/codeburn/issues/404)
// (2026-05-27); of Zoo Code, which writes what Roo Code does, splitrail#205
// (https://github.com/Piebald-AI/splitrail/pull/205) (2026-07-19).
#include "cline_bill.hpp"
#include "cline_compactions.hpp"
#include "cline_message.hpp"
#include "readers.hpp"
#include "records.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

constexpr std::string_view known_cline = "4.1";

double seconds_of_cline(std::int64_t ms) { return static_cast<double>(ms) / 1'000; }

/// The first element of a list that is a message or a record of what was shown tells what the list is.
bool lists_ui_records(const ordered_json& list) {
    for (const ordered_json& one : list) {
        if (find_member(one, "role") != nullptr) return false;
        const std::string_view type = text_at(one, "type");
        if (type == "say" || type == "ask") return true;
    }
    return false;
}

/// Where a task works, as its first prompt has it.
std::string_view folder_in_prompt(const ordered_json& prompt) {
    for (const std::string_view front : {"# Current Working Directory (", "# Current Workspace Directory ("}) {
        const std::string_view folder = text_between(prompt, front, ") Files");
        if (!folder.empty()) return folder;
    }
    return {};
}

/// Roo Code tells the model in the details of prompts alone.
std::string_view model_in_prompt(const ClineMessage& prompt) {
    constexpr std::size_t most = 128;  // bytes of a name
    if (prompt.is_reply) return {};
    const std::string_view model = text_between(prompt.json, "\n<model>", "</model>\n");
    return model.size() <= most ? model : std::string_view();
}

/// What a session that goes on with an older task begins the prompt behind its messages with.
constexpr std::string_view legacy_warning = "Warning: this is a legacy conversation";

/// The reply in front of that warning has what the whole task was billed, which the task's own files have too.
void leave_out_bill_of_task(std::vector<ClineMessage>& messages, LogNotes& notes) {
    ClineMessage* reply = nullptr;
    for (ClineMessage& one : messages) {
        if (one.is_reply && one.bill) reply = &one;
        if (one.is_reply || reply == nullptr || !has_text_with(one.json, legacy_warning)) continue;
        reply->bill.reset();
        ++notes.left_out["bill of the task that the session goes on with"];
        return;
    }
}

/// A task, or a session of the newer versions: its files, one after another.
class ClineLog {
public:
    ClineLog(const LogOptions& options, LogNotes& notes, VisitSession visit)
        : options_(options), notes_(notes), visit_(visit) {}

    void add(ordered_json value, std::size_t line) {
        if (value.is_array()) return add_list(value, line);
        if (!value.is_object())
            return note_damage(notes_, line, "expected an object or an array, found " + detail::found_text(value));
        ++notes_.records;
        if (find_member(value, "source_message_count") != nullptr) return add_newer_compaction(value, line);
        if (tree_at(value, "messages") != nullptr) return add_newer_session(value, line);
        if (!text_at(value, "session_id").empty()) return add_manifest(value);
        add_facts(value);
    }

    void finish() {
        if (is_begun_) hand_on();
    }

private:
    void add_list(ordered_json& list, std::size_t line) {
        if (list.empty()) return;
        if (list.front().is_array()) return changes_.add(list);
        if (lists_ui_records(list)) return add_ui_records(list, line);
        if (has_any()) begin_another();
        add_messages(list, line);
    }

    void add_ui_records(const ordered_json& list, std::size_t line) {
        if (!bill_.empty()) begin_another();
        is_begun_ = true;
        for (const ordered_json& record : list) {
            ++notes_.records;
            bill_.add(record, line, options_, notes_);
        }
    }

    void add_messages(ordered_json& list, std::size_t line) {
        is_begun_ = true;
        line_ = line;
        for (ordered_json& json : list) {
            if (!json.is_object()) {
                note_damage(notes_, line, "expected an object, found " + detail::found_text(json));
                continue;
            }
            ++notes_.records;
            ClineMessage message = cline_message(json);
            message.json = std::move(json);
            messages_.push_back(std::move(message));
        }
    }

    /// Of the versions since 4: what is told beside the messages in one document with them.
    void add_newer_session(ordered_json& document, std::size_t line) {
        if (has_any()) begin_another();
        is_newer_ = true;
        session_.recording.id = text_at(document, "sessionId");
        session_.recording.system = text_at(document, "system_prompt");
        if (const ordered_json* origin = tree_at(document, "origin")) {
            session_.parent = text_at(*origin, "parentThreadId");
            take_version(text_at(*origin, "version"));
        }
        const std::size_t end_of_parent = session_.recording.id.find("__");
        if (session_.parent.empty() && text_at(document, "agent") != "lead" && end_of_parent != std::string::npos)
            session_.parent = session_.recording.id.substr(0, end_of_parent);
        --notes_.records;  // its messages are
        add_messages(document["messages"], line);
        leave_out_bill_of_task(messages_, notes_);
    }

    /// What requests begin with since the newest compaction. Older ones are in no file.
    void add_newer_compaction(ordered_json& state, std::size_t line) {
        const auto before = static_cast<std::size_t>(count_at(state, "source_message_count"));
        ordered_json* messages = tree_at(state, "messages") == nullptr ? nullptr : &state["messages"];
        if (messages == nullptr || !messages->is_array() || !is_newer_ || before > messages_.size())
            return note_damage(notes_, line, "a compaction of other messages than these");
        Compaction compaction;
        compaction.trigger = "auto";
        for (ordered_json& one : *messages) {
            if (const ordered_json* facts = tree_at(one, "metadata"); facts != nullptr && !compaction.tokens_before) {
                if (text_at(*facts, "reason") == "manual_compaction") compaction.trigger = "manual";
                if (const std::int64_t tokens = count_at(*facts, "tokensBefore"); tokens > 0)
                    compaction.tokens_before = tokens;
            }
            ordered_json sent = sent_by_cline(std::move(one), notes_);
            if (!is_empty_of_cline(sent)) compaction.kept.push_back(std::move(sent));
        }
        compactions_.clear();
        compactions_.emplace_back(before, std::move(compaction));
    }

    void add_manifest(const ordered_json& manifest) {
        if (!is_newer_) return;
        session_.folder = text_at(manifest, "cwd");
        if (session_.recording.id.empty()) session_.recording.id = text_at(manifest, "session_id");
    }

    /// "task_metadata.json" of both, "history_item.json" of Roo Code.
    void add_facts(const ordered_json& facts) {
        bill_.add_models(facts);
        if (const ordered_json* hosts = tree_at(facts, "environment_history")) {
            for (const ordered_json& host : *hosts) take_version(text_at(host, "cline_version"));
        }
        if (const std::string_view folder = text_at(facts, "workspace"); !folder.empty()) session_.folder = folder;
        if (const std::string_view parent = text_at(facts, "parentTaskId"); !parent.empty()) session_.parent = parent;
    }

    void take_version(std::string_view version) {
        if (version.empty()) return;
        session_.version = version;
        note_version(notes_, version, known_cline);
    }

    /// Messages come in front of their bill.
    [[nodiscard]] bool has_any() const noexcept { return !messages_.empty() || !bill_.empty(); }

    /// The library may be given tasks one after another.
    void begin_another() {
        hand_on();
        session_ = Session{.format = Format::cline};
        messages_.clear();
        bill_ = {};
        changes_ = {};
        compactions_.clear();
        is_newer_ = false;
    }

    void hand_on() {
        if (session_.recording.id.empty()) session_.recording.id = stem_of(options_);
        bill_.finish();
        has_separate_bills_ = std::ranges::any_of(bill_.requests(), &ClineRequest::has_counts);
        const std::vector<std::size_t> of = match_requests(messages_, bill_.requests());
        find_compactions(of);
        fill_entries(of);
        bill_rest(of);
        entries_.finish(session_, true, notes_);
        hand_over(std::move(session_), notes_, visit_);
        entries_ = {};
        is_begun_ = false;
    }

    void find_compactions(const std::vector<std::size_t>& of) {
        if (is_newer_) return;
        compactions_ = compactions_of_roo(messages_, bill_, copies_, notes_);
        if (compactions_.empty())
            compactions_ = compactions_of_cline(messages_, bill_.requests(), of, changes_, copies_, notes_);
    }

    void fill_entries(const std::vector<std::size_t>& of) {
        auto next = compactions_.begin();
        std::string model;
        for (std::size_t i = 0; i < messages_.size(); ++i) {
            for (; next != compactions_.end() && next->first <= i; ++next) entries_.compact() = std::move(next->second);
            ClineMessage& one = messages_[i];
            if (const std::string_view request_bill = model_in_prompt(one); !request_bill.empty()) model = request_bill;
            if (session_.folder.empty()) session_.folder = folder_in_prompt(one.json);
            add_entry(one, of[i], model);
        }
        for (; next != compactions_.end(); ++next) entries_.compact() = std::move(next->second);
    }

    void add_entry(ClineMessage& one, std::size_t request, const std::string& model) {
        std::optional<Call> call;
        if (one.is_reply) call = call_of(one, request, model);
        if (one.is_summary || one.is_cut_marker || one.is_reasoning) {
            ++notes_.left_out[one.is_summary      ? "summary of a compaction"
                              : one.is_cut_marker ? "marker of a compaction"
                                                  : "reasoning"];
            return;
        }
        ordered_json sent = sent_by_cline(std::move(one.json), notes_);
        if (is_empty_of_cline(sent)) {
            ++notes_.left_out["message of which nothing is sent"];
            if (call && is_bill(call->usage)) entries_.bill_elsewhere(*std::move(call));
            return;
        }
        if (entries_.size() > 0) answer_calls(entries_[entries_.size() - 1].message, sent);
        std::optional<double> time;
        if (one.ms > 0) time = seconds_of_cline(one.ms);
        entries_.add({.message = std::move(sent), .time = time, .line = line_, .call = std::move(call)});
    }

    void answer_calls(const ordered_json& reply, ordered_json& answer) {
        const std::int64_t missing = add_missing_results(reply, answer);
        if (missing > 0) notes_.left_out["tool call without a result"] += missing;
    }

    [[nodiscard]] Call call_of(const ClineMessage& reply, std::size_t request, const std::string& model) {
        Call call{.model = reply.model, .usage = reply.bill};
        if (reply.ms > 0) call.time = seconds_of_cline(reply.ms);
        if (request == no_cline_request) {
            if (has_separate_bills_) call.usage.reset();  // one of those is its own
            if (!reply.id.empty() || reply.ms > 0) call.bill_id = fmt::format("cline/{}/{}", reply.id, reply.ms);
            if (call.model.empty()) call.model = model;
            return call;
        }
        ClineRequest& request_bill = bill_.requests()[request];
        if (request_bill.provider.empty()) request_bill.provider = reply.provider;
        if (call.model.empty()) call.model = request_bill.model.empty() ? model : request_bill.model;
        if (!call.time) call.time = seconds_of_cline(request_bill.ms);
        call.bill_id = request_bill.bill_id;
        if (request_bill.has_counts()) call.usage = usage_of_request(request_bill);
        return call;
    }

    /// Requests whose replies are in no message.
    void bill_rest(const std::vector<std::size_t>& of) {
        std::vector<bool> is_reported(bill_.requests().size(), false);
        for (const std::size_t request : of) {
            if (request != no_cline_request) is_reported[request] = true;
        }
        for (std::size_t k = 0; k < is_reported.size(); ++k) {
            if (is_reported[k]) continue;
            const ClineRequest& request = bill_.requests()[k];
            if (!request.has_counts()) {
                ++notes_.left_out["request without a bill"];
                continue;
            }
            entries_.bill_elsewhere(Call{.bill_id = request.bill_id,
                                         .model = request.model,
                                         .time = seconds_of_cline(request.ms),
                                         .usage = usage_of_request(request)});
        }
        for (Call& call : bill_.side_calls()) entries_.bill_elsewhere(std::move(call));
    }

    const LogOptions& options_;
    LogNotes& notes_;
    VisitSession visit_;
    Session session_{.format = Format::cline};
    Entries entries_{};
    std::vector<ClineMessage> messages_{};
    ClineBill bill_{};
    ClineChanges changes_{};
    ClineCompactions compactions_{};
    CopyBudget copies_{};
    std::size_t line_ = 0;
    bool is_newer_ = false;
    bool is_begun_ = false;
    bool has_separate_bills_ = false;
};

}  // namespace

void read_cline(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    Records records(in, options, notes);
    ClineLog log(options, notes, visit);
    while (auto value = records.next_value()) log.add(*std::move(value), records.line());
    log.finish();
}

}  // namespace whittle::inline v0::logs
