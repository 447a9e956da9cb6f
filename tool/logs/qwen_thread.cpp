#include "qwen_thread.hpp"

#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

constexpr std::string_view qwen_speech = "realtime_message";

/// Beside the conversation: no record stands behind these.
bool is_qwen_side_record(std::string_view subtype) {
    constexpr std::array<std::string_view, 6> subtypes{"session_artifact_event",   "session_artifact_snapshot",
                                                       "session_sources_snapshot", "managed_session_header_v1",
                                                       "managed_session_event_v1", "managed_session_commit_v1"};
    return std::ranges::find(subtypes, subtype) != subtypes.end();
}

/// Subtypes of system records that are no part of a conversation.
bool is_known_to_qwen(std::string_view subtype) {
    constexpr auto subtypes = std::to_array<std::string_view>({
        "agent_launch_prompt",   "agent_retry",
        "agent_session_ready",   "at_command",
        "attribution_snapshot",  "background_task_completed",
        "branch_checkpoint",     "custom_title",
        "file_history_snapshot", "goal_state",
        "goal_turn_end",         "omni_recall",
        "parent_session",        "rewind",
        "session_approval_mode", "session_execution_engine",
        "session_model",         "session_notes",
        "session_source",        "slash_command",
        "turn_result",           "ui_telemetry",
        "user_text_elements",
    });
    return is_qwen_side_record(subtype) || std::ranges::find(subtypes, subtype) != subtypes.end();
}

/// Subtypes of messages, beside those without one. What was spoken stands in the log of the speech, and is not sent.
bool is_message_of_qwen(std::string_view subtype) {
    constexpr std::array<std::string_view, 6> subtypes{
        "", "notification", "cron", "mid_turn_user_message", "goal_runtime", qwen_speech};
    return std::ranges::find(subtypes, subtype) != subtypes.end();
}

QwenRecord::Kind kind_of_qwen(std::string_view type) {
    if (type == "assistant") return QwenRecord::Kind::reply;
    return type == "user" || type == "tool_result" ? QwenRecord::Kind::input : QwenRecord::Kind::other;
}

/// Of a content; null if it has none.
ordered_json* qwen_parts_in(ordered_json& content) {
    if (!content.is_object()) return nullptr;
    const auto parts = content.find("parts");
    return parts == content.end() || !parts->is_array() ? nullptr : &*parts;
}

bool has_qwen_parts_at_start(const ordered_json& whole, const ordered_json& start) {
    return start.size() <= whole.size() && std::equal(start.begin(), start.end(), whole.begin());
}

/// A command that the agent ran by itself and whose text it took back from the model; else "".
std::string_view command_qwen_took_back(const ordered_json& payload) {
    if (text_at(payload, "phase") != "result" || is_set(payload, "sentToModel")) return {};
    const ordered_json* shown = tree_at(payload, "outputHistoryItems");
    if (shown == nullptr || shown->empty()) return {};
    const bool is_answer =
        std::ranges::all_of(*shown, [](const ordered_json& item) { return text_at(item, "type") == "assistant"; });
    return is_answer ? text_at(payload, "rawCommand") : std::string_view();
}

void compact_qwen(const QwenRecord& record, bool was_command_run, QwenMessages& messages) {
    const ordered_json* history = tree_at(record.payload, "compressedHistory");
    if (history == nullptr) return;
    const ordered_json* info = tree_at(record.payload, "info");
    const std::string_view trigger = info == nullptr ? std::string_view() : text_at(*info, "triggerReason");
    const std::int64_t before = info == nullptr ? 0 : count_at(*info, "originalTokenCount");
    messages.compact(*history, was_command_run || trigger == "manual", trigger,
                     before == 0 ? std::nullopt : std::optional(before), record.line);
}

}  // namespace

void QwenThread::add(ordered_json& record, std::size_t line, LogNotes& notes) {
    const bool is_system = text_at(record, "type") == "system";
    const std::string subtype(text_at(record, "subtype"));
    note_kind(is_system, subtype, notes);
    if (is_system && is_qwen_side_record(subtype)) return;
    const std::string uuid(text_at(record, "uuid"));
    const auto known = uuid.empty() ? places_.end() : places_.find(uuid);
    if (known != places_.end()) return add_again(known->second, record, notes);
    if (is_system && subtype == "ui_telemetry") add_event(record, uuid);
    parents_.push_back(parent_of(record, notes));  // not itself
    if (!uuid.empty()) places_.emplace(uuid, records_.size());
    records_.push_back(record_of(record, line));
}

/// Messages of kinds that are not known are sent all the same: the agent sends all but what was spoken.
void QwenThread::note_kind(bool is_system, const std::string& subtype, LogNotes& notes) {
    if (is_system && (subtype == "chat_compression" || subtype == "agent_bootstrap")) return;
    if (!is_system && is_message_of_qwen(subtype) && subtype != qwen_speech) return;
    const bool is_known = is_system ? is_known_to_qwen(subtype) : is_message_of_qwen(subtype);
    ++(is_known ? notes.left_out : notes.unknown)[(is_system ? "system/" : "message/") + subtype.substr(0, 64)];
}

/// What the agent tells of its calls. It counts the same whether it was taken back.
void QwenThread::add_event(const ordered_json& record, std::string_view uuid) {
    const ordered_json* payload = tree_at(record, "systemPayload");
    const ordered_json* event = payload == nullptr ? nullptr : tree_at(*payload, "uiEvent");
    if (event != nullptr && text_at(*event, "event.name").ends_with(".api_response"))
        bills_.add_event(*event, uuid, to_seconds(text_at(record, "timestamp")));
}

/// A part of a record that came before, or the record once more: as the agent does, the first message and model are
/// taken, with all parts, and the newest bill.
void QwenThread::add_again(std::size_t first, ordered_json& record, LogNotes& notes) {
    QwenRecord& known = records_[first];
    const bool has_news = take_bill(record, known);
    const auto message = record.find("message");
    if (known.message.is_null() && message != record.end() && message->is_object()) {
        known.message = std::move(*message);
        return;
    }
    ordered_json* parts = qwen_parts_in(known.message);
    ordered_json* more = message == record.end() ? nullptr : qwen_parts_in(*message);
    if (parts == nullptr || more == nullptr || has_qwen_parts_at_start(*parts, *more)) {
        if (!has_news) ++notes.left_out["repeated record"];
        return;
    }
    for (ordered_json& part : *more) parts->push_back(std::move(part));
}

/// Whether the record told of the reply's bill what was not known.
bool QwenThread::take_bill(const ordered_json& record, QwenRecord& reply) {
    if (!reply.call) return false;
    const std::string_view model = text_at(record, "model");
    const bool is_model_new = reply.call->model.empty() && !model.empty();
    if (is_model_new) reply.call->model = model;
    const ordered_json* usage = tree_at(record, "usageMetadata");
    if (usage == nullptr) return is_model_new;
    const QwenCounts counts = QwenCounts::of_reply(*usage);
    const bool are_counts_new = !reply.counts || *reply.counts != counts;
    reply.counts = counts;
    reply.call->usage = counts.usage();
    return is_model_new || are_counts_new;
}

QwenRecord QwenThread::record_of(ordered_json& record, std::size_t line) {
    QwenRecord read{.kind = kind_of_qwen(text_at(record, "type")),
                    .subtype = std::string(text_at(record, "subtype")),
                    .time = to_seconds(text_at(record, "timestamp")),
                    .line = line};
    if (tree_at(record, "message") != nullptr) read.message = std::move(record["message"]);
    if (read.kind == QwenRecord::Kind::other && tree_at(record, "systemPayload") != nullptr &&
        (read.subtype == "chat_compression" || read.subtype == "slash_command" || read.subtype == "agent_bootstrap"))
        read.payload = std::move(record["systemPayload"]);
    if (read.kind != QwenRecord::Kind::reply) return read;
    Call& call = read.call.emplace();
    call.bill_id = qwen_bill_id(text_at(record, "uuid"));
    call.time = read.time;
    take_bill(record, read);
    return read;
}

void QwenThread::bill_replies() {
    for (QwenRecord& record : records_) {
        if (!record.counts) continue;
        if (agent_.empty()) {
            bills_.add_reply(*record.counts);
        } else {
            record.call->bill_id = bills_.id_of_agent(agent_, *record.counts, record.time);
        }
    }
}

/// One that is not there, such as in a damaged line, is taken for the record in front.
std::size_t QwenThread::parent_of(const ordered_json& record, LogNotes& notes) const {
    const ordered_json* uuid = find_member(record, "parentUuid");
    const std::size_t newest = records_.empty() ? none : records_.size() - 1;
    if (uuid == nullptr) return newest;
    if (!uuid->is_string()) return none;
    const auto known = places_.find(uuid->get_ref<const std::string&>());
    if (known != places_.end()) return known->second;
    ++notes.unknown["parentUuid of no record"];
    return newest;
}

/// Parents stand in front, so that there is no way round.
std::vector<bool> QwenThread::records_of_branch() const {
    std::vector<bool> is_on_branch(records_.size(), false);
    for (std::size_t at = records_.empty() ? none : records_.size() - 1; at != none; at = parents_[at])
        is_on_branch[at] = true;
    return is_on_branch;
}

void QwenThread::add_record(QwenRecord& record, QwenMessages& messages) {
    if (record.kind == QwenRecord::Kind::other) {
        if (record.subtype == "chat_compression") compact_qwen(record, was_command_run_, messages);
        if (record.subtype == "agent_bootstrap") {
            if (const ordered_json* history = tree_at(record.payload, "history")) {
                for (const ordered_json& content : *history) messages.add_copy(content, record.line);
            }
        }
        if (record.subtype != "slash_command") return;
        was_command_run_ = true;
        if (const std::string_view text = command_qwen_took_back(record.payload); !text.empty())
            messages.take_back_prompt(text);
        return;
    }
    if (record.subtype == qwen_speech) return;
    was_command_run_ = false;
    if (record.kind == QwenRecord::Kind::reply)
        return messages.add_reply(record.message, std::move(record.call), record.time, record.line);
    messages.add_input(record.message, record.time, record.line);
}

void QwenThread::finish(Session& session, LogNotes& notes) {
    Entries entries;
    QwenMessages messages(entries, notes, "call-");
    bill_replies();
    const std::vector<bool> is_on_branch = records_of_branch();
    for (std::size_t i = 0; i < records_.size(); ++i) {
        if (is_on_branch[i]) {
            add_record(records_[i], messages);
        } else if (records_[i].call && records_[i].call->usage) {
            entries.bill_elsewhere(*std::move(records_[i].call));
        }
    }
    messages.finish();
    for (Call& call : bills_.take_others()) entries.bill_elsewhere(std::move(call));
    session.version = version;
    session.folder = folder;
    entries.finish(session, false, notes);
}

}  // namespace whittle::inline v0::logs
