#include "csv_rows.hpp"
#include "logs.hpp"
#include "top_keys.hpp"

#include <algorithm>
#include <array>

namespace whittle::inline v0::logs {
namespace {

constexpr std::array all_formats{Format::claude_code,  Format::codex,     Format::gemini_cli, Format::opencode,
                                 Format::openhands,    Format::swe_agent, Format::exchanges,  Format::har,
                                 Format::otel,         Format::langsmith, Format::langfuse,   Format::openhands_v1,
                                 Format::langfuse_csv, Format::qwen_code, Format::pi,         Format::copilot_cli,
                                 Format::cline};

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& list) {
    return std::ranges::find(list, text) != list.end();
}

/// Records have Claude Code's keys around Gemini's contents. Where one is cut, what begins as none of Claude Code's
/// does.
bool is_qwen_code(const TopKeys& keys) {
    constexpr std::array<std::string_view, 4> types{"user", "assistant", "tool_result", "system"};
    if (!is_one_of(keys.text("type"), types)) return false;
    if (!keys.has("uuid") || !keys.has("parentUuid") || !keys.has("sessionId")) return false;
    for (const char* own : {"message.parts", "usageMetadata", "systemPayload"}) {
        if (keys.has(own)) return true;
    }
    return !keys.is_whole() && !keys.has("isSidechain") && !keys.has("message.content") && !keys.has("message.role");
}

bool is_claude_code(const TopKeys& keys) {
    constexpr std::array<std::string_view, 5> of_messages{"user", "assistant", "system", "attachment",
                                                          "compact_boundary"};
    const std::string_view type = keys.text("type");
    // Qwen Code has system records of which nothing tells whose they are.
    if (type == "system" && !keys.has("isSidechain") && !keys.has("content") && !keys.has("userType")) return false;
    if (is_one_of(type, of_messages)) {
        const bool is_chained = keys.has("parentUuid") || keys.has("isSidechain");
        return is_chained && (keys.has("uuid") || keys.has("sessionId"));
    }
    if (type == "summary") return keys.has("leafUuid");
    if (type == "file-history-snapshot") return keys.has("messageId");
    constexpr std::array<std::string_view, 7> of_sessions{
        "queue-operation", "permission-mode", "last-prompt", "ai-title", "custom-title", "agent-name", "mode"};
    return is_one_of(type, of_sessions) && keys.has("sessionId");
}

bool is_codex(const TopKeys& keys) {
    constexpr std::array<std::string_view, 5> envelopes{"session_meta", "response_item", "event_msg", "turn_context",
                                                        "compacted"};
    if (is_one_of(keys.text("type"), envelopes)) return keys.has("payload");
    if (keys.has("type")) return false;
    return keys.has("id") && keys.has("timestamp") && keys.has("instructions") && !keys.has("messages");
}

bool is_gemini_cli(const TopKeys& keys) { return keys.has("sessionId") && keys.has("projectHash"); }

/// The first record, which is a session's, or one of those behind it.
bool is_pi(const TopKeys& keys) {
    const std::string_view type = keys.text("type");
    if (type == "session") return keys.has("id") && keys.has("timestamp") && (keys.has("cwd") || keys.has("version"));
    if (type == "message") return keys.has("timestamp") && keys.has("message.role");
    if (!keys.has("parentId")) return false;
    return (type == "model_change" && keys.has("modelId")) || (type == "custom" && keys.has("customType")) ||
           (type == "thinking_level_change" && keys.has("thinkingLevel"));
}

/// An event, or a session of before there were any.
bool is_copilot_cli(const TopKeys& keys) {
    if (keys.has("chatMessages")) return keys.has("sessionId") && (keys.has("timeline") || keys.has("startTime"));
    constexpr std::array<std::string_view, 8> types{"session.resume",       "session.model_change", "user.message",
                                                    "system.message",       "assistant.turn_start", "assistant.message",
                                                    "tool.execution_start", "session.shutdown"};
    const std::string_view type = keys.text("type");
    if (type == "session.start" && keys.has("data.sessionId")) return true;
    return is_one_of(type, types) && keys.has("data") && keys.has("timestamp") && keys.has("parentId");
}

bool is_swe_agent(const TopKeys& keys) {
    if (keys.text("trajectory_format").starts_with("mini-swe-agent")) return true;
    if (keys.has("info.model_stats") || keys.has("info.mini_version")) return true;
    if (keys.has("attempts[].trajectory") || keys.has("attempts[].history")) return true;
    return keys.has("trajectory") && (keys.has("environment") || keys.has("history") || keys.has("replay_config") ||
                                      keys.first_of("trajectory") == "action");
}

bool is_opencode(const TopKeys& keys) {
    return keys.text("info.id").starts_with("ses_") || (keys.has("info.directory") && keys.has("info.projectID"));
}

/// An event, or a list of them. What kind of one it is stands at the end, so its other members tell.
bool is_openhands_v1(const TopKeys& keys) {
    for (const std::string list : {"", "events[].", "items[]."}) {
        if (!keys.has(list + "source") || !keys.has(list + "timestamp")) continue;
        for (const char* member : {"kind", "system_prompt", "llm_message", "tool_call_id", "forgotten_event_ids"}) {
            if (keys.has(list + member)) return true;
        }
    }
    return false;
}

/// An event, of the list `list` of the record or as it is.
bool is_openhands(const TopKeys& keys, const std::string& list = "") {
    return keys.has(list + "source") && keys.has(list + "timestamp") &&
           (keys.has(list + "action") || keys.has(list + "observation"));
}

bool is_har(const TopKeys& keys) {
    return keys.has("log.entries") || (keys.has("log.version") && keys.has("log.creator"));
}

bool is_exchange(const TopKeys& keys) {
    for (const char* at : {"request.messages", "request.input", "request.body", "request.json", "request.model"}) {
        if (keys.has(at)) return true;
    }
    if (keys.text("request").starts_with('{')) return true;
    const std::string_view response = keys.text("response");
    const bool is_body_in_text =
        response.starts_with('{') || response.starts_with("data:") || response.starts_with("event:");
    if (keys.has("messages") && (is_body_in_text || keys.has("response.body") || keys.has("response.json")))
        return true;
    return (keys.has("messages") && (keys.has("response.choices") || keys.has("response.content") ||
                                     keys.has("response.usage") || keys.has("response.id"))) ||
           (keys.has("input") && keys.has("response.output"));
}

/// What stands behind the bracket of an array.
std::optional<std::string_view> first_in_array(std::string_view start) {
    const std::size_t bracket = start.find_first_not_of(" \t\r\n");
    if (bracket == std::string_view::npos || start[bracket] != '[') return std::nullopt;
    return start.substr(bracket + 1);
}

bool is_langchain_type(std::string_view type) {
    constexpr std::array<std::string_view, 5> types{"human", "ai", "system", "tool", "AIMessageChunk"};
    return is_one_of(type, types);
}

/// As LangChain dumps it. The names of some types are its own; others call records system or tool too.
bool is_langchain_message(const TopKeys& keys, bool is_in_array) {
    const std::string_view type = keys.text("type");
    if (!is_langchain_type(type)) return false;
    if (keys.has("data.content")) return true;
    if (!keys.has("content")) return false;
    if (keys.has("additional_kwargs")) return true;
    return !keys.has("role") && (is_in_array || (type != "system" && type != "tool"));
}

/// A run, a list of runs, or messages of LangChain, which have a type in place of a role.
bool is_langsmith(const TopKeys& keys, bool is_in_array) {
    if (keys.has("run_type"))
        return keys.has("inputs") || keys.has("trace_id") || keys.has("start_time") || keys.has("dotted_order");
    if (keys.has("runs[].run_type")) return true;
    const bool is_serialised = keys.has("lc") && keys.text("type") == "constructor" && keys.has("kwargs");
    const std::string_view inside = keys.text("messages[].type");
    const bool are_inside = inside == "constructor" || (is_langchain_type(inside) && !keys.has("messages[].role"));
    return is_serialised || are_inside || is_langchain_message(keys, is_in_array);
}

bool is_langfuse(const TopKeys& keys) {
    for (const std::string list : {"", "observations[].", "data[]."}) {
        const std::string_view type = keys.text(list + "type");
        const bool is_kind = !type.empty() && std::ranges::all_of(type, [](char c) { return c >= 'A' && c <= 'Z'; });
        const bool is_of_trace = keys.has(list + "traceId") || keys.has(list + "trace_id");
        if (is_of_trace && (is_kind || keys.has(list + "parentObservationId"))) return true;
    }
    return false;
}

/// By the names of its columns.
bool is_langfuse_csv(std::string_view start) {
    const auto names = first_csv_row(start);
    const auto has = [&](std::string_view name) { return std::ranges::find(*names, name) != names->end(); };
    return names && has("type") && has("input") && (has("traceId") || has("trace_id"));
}

/// A record of what Cline showed: it says or asks something.
bool is_cline_ui_record(const TopKeys& keys) {
    const std::string_view type = keys.text("type");
    return (type == "say" || type == "ask") && keys.has("ts") && !keys.text(type).empty();
}

/// The first message of a task, which nothing but Cline and its forks has as it is: a time beside role and content, or
/// the marks around the task.
bool is_cline_message(const TopKeys& keys) {
    constexpr std::array<std::string_view, 12> own{"role",         "content",
                                                   "ts",           "id",
                                                   "modelInfo",    "metrics",
                                                   "condenseId",   "condenseParent",
                                                   "truncationId", "isTruncationMarker",
                                                   "isSummary",    "truncationParent"};
    if (keys.text("role") != "user" || !keys.has("content")) return false;
    if (!std::ranges::all_of(keys.names(own.size() + 1), [&](const auto& name) { return is_one_of(name, own); }))
        return false;
    const std::string_view text = keys.has("content[].text") ? keys.text("content[].text") : keys.text("content");
    return (keys.has("ts") && keys.has("content[].type")) || text.starts_with("<task>") ||
           text.starts_with("<user_message>");
}

/// A session of Cline since its versions 4, in one document.
bool is_cline_session(const TopKeys& keys) {
    return keys.has("messages") && keys.has("sessionId") && keys.has("updated_at") && keys.has("agent");
}

std::optional<Format> format_of_trace(const TopKeys& keys, bool is_in_array) {
    if (is_langsmith(keys, is_in_array)) return Format::langsmith;
    return is_langfuse(keys) ? std::optional(Format::langfuse) : std::nullopt;
}

std::optional<Format> format_of(const TopKeys& keys) {
    if (is_qwen_code(keys)) return Format::qwen_code;
    if (is_claude_code(keys)) return Format::claude_code;
    if (is_codex(keys)) return Format::codex;
    if (is_gemini_cli(keys)) return Format::gemini_cli;
    if (is_pi(keys)) return Format::pi;
    if (is_copilot_cli(keys)) return Format::copilot_cli;
    if (is_openhands_v1(keys)) return Format::openhands_v1;
    if (is_opencode(keys)) return Format::opencode;
    if (keys.has("resourceSpans") || keys.has("resourceLogs")) return Format::otel;
    if (is_openhands(keys, "history[].") || is_openhands(keys, "trajectory[].")) return Format::openhands;
    if (is_swe_agent(keys)) return Format::swe_agent;
    if (is_har(keys)) return Format::har;
    if (is_cline_session(keys)) return Format::cline;
    if (is_exchange(keys)) return Format::exchanges;
    return format_of_trace(keys, false);
}

/// Of the records of an array, by the first one.
std::optional<Format> format_of_listed(const TopKeys& keys) {
    if (is_openhands_v1(keys)) return Format::openhands_v1;
    if (is_cline_ui_record(keys) || is_cline_message(keys)) return Format::cline;
    return is_openhands(keys) ? std::optional(Format::openhands) : format_of_trace(keys, true);
}

/// As far as its first character tells.
bool is_json(std::string_view line) noexcept { return line.empty() || line[0] == '{'; }

/// Of one of the first lines. One that is not over, but began early, may tell more.
Recognition recognise_lines(std::string_view start) {
    constexpr std::size_t most_lines = 50;
    constexpr std::size_t early = 1U << 16U;
    std::size_t begin = 0;
    for (std::size_t line = 1; line < most_lines; ++line) {
        const std::size_t end = start.find('\n', begin);
        if (end == std::string_view::npos) return {.wants_more = begin < early && is_json(start.substr(begin))};
        begin = end + 1;
        if (const auto format = format_of(TopKeys(start.substr(begin)))) return {format};
    }
    return {};
}

}  // namespace

std::string_view to_string(Format format) noexcept {
    switch (format) {
        case Format::claude_code: return "claude_code";
        case Format::codex: return "codex";
        case Format::gemini_cli: return "gemini_cli";
        case Format::opencode: return "opencode";
        case Format::openhands: return "openhands";
        case Format::swe_agent: return "swe_agent";
        case Format::exchanges: return "exchanges";
        case Format::har: return "har";
        case Format::otel: return "otel";
        case Format::langsmith: return "langsmith";
        case Format::langfuse: return "langfuse";
        case Format::openhands_v1: return "openhands_v1";
        case Format::langfuse_csv: return "langfuse_csv";
        case Format::qwen_code: return "qwen_code";
        case Format::pi: return "pi";
        case Format::copilot_cli: return "copilot_cli";
        case Format::cline: return "cline";
    }
    return "";
}

std::span<const Format> formats() noexcept { return all_formats; }

std::optional<bool> holds_anthropic_messages(Format format) noexcept {
    switch (format) {
        case Format::claude_code:
        case Format::cline: return true;
        case Format::codex:
        case Format::gemini_cli:
        case Format::opencode:
        case Format::openhands:
        case Format::openhands_v1:
        case Format::swe_agent:
        case Format::otel:
        case Format::qwen_code:
        case Format::pi:
        case Format::copilot_cli: return false;
        case Format::exchanges:
        case Format::har:
        case Format::langsmith:
        case Format::langfuse:
        case Format::langfuse_csv: return std::nullopt;
    }
    return std::nullopt;
}

Recognition recognise_start(std::string_view start) {
    constexpr std::size_t max_keys = 8;
    if (start.starts_with("\xEF\xBB\xBF")) start.remove_prefix(3);
    if (const auto first = first_in_array(start)) {
        const TopKeys keys(*first);
        const auto format = format_of_listed(keys);
        return {format, !format && !keys.is_whole(), keys.names(max_keys)};
    }
    if (is_langfuse_csv(start)) return {Format::langfuse_csv};
    // A document over several lines is looked at as one; so is a line that does not end in time.
    const TopKeys document(start);
    if (const auto format = format_of(document)) return {format};
    Recognition recognised = recognise_lines(start);
    recognised.keys = document.names(max_keys);
    recognised.wants_more = recognised.wants_more || !document.is_whole();
    return recognised;
}

std::optional<Format> recognise(std::string_view start) { return recognise_start(start).format; }

}  // namespace whittle::inline v0::logs
