// Sources of the format of Codex: `codex-rs/protocol/src/protocol.rs` and `models.rs`
// (https://github.com/openai/codex/tree/main/codex-rs/protocol/src), toolpath's format notes
// (https://github.com/empathic/toolpath/blob/main/docs/agents/formats/codex.md), openai/codex#14489
// (https://github.com/openai/codex/issues/14489) (2026-11-25); `codex-rs/history/src/lib.rs`, `rollout_payload.rs`
// beside it and `codex-rs/rollout/src/policy.rs` there for kinds of records and events, PixelPaw-Labs/codex-trace#213
// (https://github.com/PixelPaw-Labs/codex-trace/pull/213) for `history_base`,
// `codex-rs/core/src/context_manager/history.rs` and `context/contextual_user_message.rs` for what is taken back,
// `codex-rs/core/src/agent/control/spawn.rs`, ccusage#897 (https://github.com/ccusage/ccusage/issues/897) and
// PokeTokenBar#128 (https://github.com/chattymin/PokeTokenBar/issues/128) for forks, openai/codex#47003
// (https://github.com/openai/codex/issues/47003) and agentclientprotocol/codex-acp#509
// (https://github.com/agentclientprotocol/codex-acp/issues/509) for bills (2026-11-26).
#include "codex_thread.hpp"
#include "readers.hpp"
#include "records.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

constexpr std::string_view known_codex = "0.171";

/// Records beside the conversation: what of them is sent to a model stands there as messages too.
constexpr std::array<std::string_view, 8> codex_side_records{
    "session_state",       "turn_state",       "world_state",   "inter_agent_communication_metadata",
    "security_risk_score", "retained_context", "realtime_item", "dynamic_tools_updated"};

/// What the interface showed; a model gets none of it.
constexpr auto codex_events = std::to_array<std::string_view>({
    "agent_message",
    "agent_message_content_delta",
    "agent_message_delta",
    "agent_reasoning",
    "agent_reasoning_delta",
    "agent_reasoning_raw_content",
    "agent_reasoning_raw_content_delta",
    "agent_reasoning_section_break",
    "apply_patch_approval_request",
    "auth_recovery_completed",
    "auth_recovery_started",
    "background_event",
    "collab_agent_interaction_begin",
    "collab_agent_interaction_end",
    "collab_agent_spawn_begin",
    "collab_agent_spawn_end",
    "collab_close_begin",
    "collab_close_end",
    "collab_resume_begin",
    "collab_resume_end",
    "collab_waiting_begin",
    "collab_waiting_end",
    "context_compacted",
    "deprecation_notice",
    "dynamic_tool_call_request",
    "dynamic_tool_call_response",
    "elicitation_abandoned",
    "elicitation_request",
    "entered_review_mode",
    "environment_connected",
    "environment_disconnected",
    "error",
    "exec_approval_request",
    "exec_command_begin",
    "exec_command_end",
    "exec_command_output_delta",
    "exited_review_mode",
    "guardian_assessment",
    "guardian_warning",
    "hook_completed",
    "hook_started",
    "image_generation_begin",
    "image_generation_end",
    "item_completed",
    "item_started",
    "mcp_startup_complete",
    "mcp_startup_update",
    "mcp_tool_call_begin",
    "mcp_tool_call_end",
    "model_reroute",
    "model_verification",
    "patch_apply_begin",
    "patch_apply_end",
    "patch_apply_updated",
    "plan_delta",
    "plan_update",
    "raw_response_completed",
    "raw_response_item",
    "realtime_conversation_closed",
    "realtime_conversation_list_voices_response",
    "realtime_conversation_realtime",
    "realtime_conversation_sdp",
    "realtime_conversation_started",
    "reasoning_content_delta",
    "reasoning_raw_content_delta",
    "request_permissions",
    "request_user_input",
    "safety_buffering",
    "session_configured",
    "shutdown_complete",
    "stream_error",
    "sub_agent_activity",
    "task_complete",
    "task_started",
    "terminal_interaction",
    "thread_goal_updated",
    "thread_name_updated",
    "thread_queue_changed",
    "thread_settings_applied",
    "turn_aborted",
    "turn_complete",
    "turn_diff",
    "turn_moderation_metadata",
    "turn_started",
    "undo_completed",
    "undo_started",
    "user_message",
    "view_image_tool_call",
    "warning",
    "web_search_begin",
    "web_search_end",
});

/// The parts of a rollout's first record that say who wrote it. A session that goes on from another one has that one's
/// as well, behind its own.
class CodexLog {
public:
    CodexLog(const LogOptions& options, LogNotes& notes) : notes_(notes) { session_.recording.id = stem_of(options); }

    /// Takes results out of the record.
    void add(ordered_json& record, std::size_t line) {
        const std::string_view type = text_at(record, "type");
        const auto time = to_seconds(text_at(record, "timestamp"));
        const auto payload = record.find("payload");
        if (is_kept_for_later(record)) {
            ++notes_.left_out["retained_context"];
            return;
        }
        if (payload != record.end() && payload->is_object()) return add_payload(type, *payload, time, line);
        if (type.empty() && record.contains("id") && record.contains("timestamp")) return add_meta(record);
        if (type.empty() && record.contains("record_type")) {
            ++notes_.left_out["record_type/" + std::string(text_at(record, "record_type").substr(0, 64))];
            return;
        }
        if (type.empty()) return note_damage(notes_, line, "a record without a type");
        add_item(record, time, line);  // of the time before there was an envelope
    }

    void finish(VisitSession visit) {
        thread_.finish(session_, notes_);
        hand_over(std::move(session_), notes_, visit);
    }

private:
    /// What a tool delivered as the agent's words: written as a message for older versions, and not sent.
    static bool is_kept_for_later(const ordered_json& record) {
        const ordered_json* metadata = tree_at(record, "metadata");
        return metadata != nullptr && text_at(*metadata, "delivered_assistant_message").starts_with("codex:code-mode-");
    }

    void add_payload(std::string_view type, ordered_json& payload, std::optional<double> time, std::size_t line) {
        if (type == "session_meta") return add_meta(payload);
        if (type == "response_item") return add_item(payload, time, line);
        if (type == "event_msg") return add_event(payload, time);
        if (type == "compacted") return thread_.compact(payload, notes_);
        if (type == "turn_context") {
            if (const std::string_view model = text_at(payload, "model"); !model.empty()) thread_.model = model;
            return;
        }
        if (type == "token_usage_record") return thread_.record_usage(payload, time);
        if (type == "inter_agent_communication") return add_communication(payload, time, line);
        if (std::ranges::find(codex_side_records, type) != codex_side_records.end()) {
            ++notes_.left_out[std::string(type)];
            return;
        }
        ++notes_.unknown[std::string(type.substr(0, 64))];
    }

    void add_meta(const ordered_json& meta) {
        for (const char* key : {"id", "forked_from_id"}) {
            if (const std::string_view id = text_at(meta, key); !id.empty()) thread_.origin = id;
        }
        if (std::exchange(has_meta_, true)) {
            ++notes_.left_out["session_meta of an earlier session"];
            return;
        }
        session_.format = Format::codex;
        if (const std::string_view id = text_at(meta, "id"); !id.empty()) session_.recording.id = id;
        session_.version = text_at(meta, "cli_version");
        session_.folder = text_at(meta, "cwd");
        note_version(notes_, session_.version, known_codex);
        const ordered_json* base = tree_at(meta, "base_instructions");
        session_.recording.system = base == nullptr ? text_at(meta, "instructions") : text_at(*base, "text");
        take_parent(meta);
        if (tree_at(meta, "history_base") != nullptr) ++notes_.unknown["history_base that another file holds"];
    }

    void take_parent(const ordered_json& meta) {
        const ordered_json* source = tree_at(meta, "source");
        const ordered_json* agent = source == nullptr ? nullptr : tree_at(*source, "subagent");
        const ordered_json* spawn = agent == nullptr ? nullptr : tree_at(*agent, "thread_spawn");
        session_.parent = text_at(spawn == nullptr ? meta : *spawn, "parent_thread_id");
    }

    /// What became an item "agent_message" later.
    void add_communication(const ordered_json& message_content, std::optional<double> time, std::size_t line) {
        if (!text_at(message_content, "encrypted_content").empty())
            ++notes_.unknown["inter_agent_communication/encrypted_content"];
        ordered_json text{{"type", "input_text"}, {"text", text_at(message_content, "content")}};
        ordered_json item{{"type", "agent_message"}, {"content", ordered_json::array({std::move(text)})}};
        add_item(item, time, line);
    }

    void add_item(ordered_json& item, std::optional<double> time, std::size_t line) {
        if (thread_.add_item(item, time, line, notes_)) return;
        ++notes_.unknown["response_item/" + std::string(text_at(item, "type").substr(0, 64))];
    }

    void add_event(const ordered_json& event, std::optional<double> time) {
        const std::string_view type = text_at(event, "type");
        if (type == "token_count") {
            if (const ordered_json* info = tree_at(event, "info")) thread_.count(*info, time);
            return;
        }
        if (type == "thread_rolled_back") return thread_.roll_back(count_at(event, "num_turns"));
        if (type == "task_started" || type == "turn_started") thread_.enter_turn(text_at(event, "turn_id"));
        const bool is_known = std::ranges::find(codex_events, type) != codex_events.end();
        ++(is_known ? notes_.left_out : notes_.unknown)["event_msg/" + std::string(type.substr(0, 64))];
    }

    LogNotes& notes_;
    Session session_{.format = Format::codex};
    CodexThread thread_{};
    bool has_meta_ = false;
};

}  // namespace

void read_codex(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    Records records(in, options, notes);
    CodexLog log(options, notes);
    while (auto record = records.next()) log.add(*record, records.line());
    log.finish(visit);
}

}  // namespace whittle::inline v0::logs
