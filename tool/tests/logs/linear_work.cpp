// What reading a log takes, of each format: twice as much for twice as many records, whatever they say.
#include "log_file.hpp"
#include "support/catch.hpp"

#include "logs/logs.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace whittle;
using nlohmann::ordered_json;

namespace {
thread_local std::size_t bytes_allocated = 0;
thread_local std::size_t steps_taken = 0;

void* counted_memory(std::size_t size) noexcept {
    bytes_allocated += size;
    return std::malloc(size == 0 ? 1 : size);
}
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
    if (void* memory = counted_memory(size)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted_memory(size); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

#ifdef WHITTLE_COUNTED_READERS
/// Called by the readers in front of each stretch of code without branches.
extern "C" void __sanitizer_cov_trace_pc();
extern "C" void __sanitizer_cov_trace_pc() { ++steps_taken; }
#endif

namespace {

/// What reading took, and gave.
struct Work {
    std::size_t bytes = 0;
    std::size_t steps = 0;  // 0 unless they are counted
    std::size_t messages = 0;
    std::size_t compactions = 0;
    std::int64_t damaged = 0;
    std::map<std::string, std::int64_t> unknown{};
};

Work work_of(const std::string& text, logs::Format format) {
    std::istringstream in(text);
    Work work;
    const std::size_t before = bytes_allocated;
    const std::size_t steps_before = steps_taken;
    const logs::LogNotes notes = logs::read_log(in, format, {.name = "work.jsonl"}, [&](logs::Session&& session) {
        work.messages += session.recording.messages.size();
        work.compactions += session.compactions.size();
    });
    work.bytes = bytes_allocated - before;
    work.steps = steps_taken - steps_before;
    work.damaged = notes.damaged;
    work.unknown = notes.unknown;
    return work;
}

std::string numbered_id(const char* kind, int n) { return kind + std::to_string(n); }

std::string as_lines(const std::vector<ordered_json>& records) {
    std::string text;
    for (const ordered_json& record : records) text += record.dump() + "\n";
    return text;
}

ordered_json user_of_claude(int n, const ordered_json& parent, ordered_json content) {
    return {{"type", "user"},
            {"uuid", numbered_id("u", n)},
            {"parentUuid", parent},
            {"sessionId", "s"},
            {"message", {{"role", "user"}, {"content", std::move(content)}}}};
}

ordered_json reply_of_claude(int n, const ordered_json& parent) {
    return {
        {"type", "assistant"},
        {"uuid", numbered_id("a", n)},
        {"parentUuid", parent},
        {"sessionId", "s"},
        {"message",
         {{"id", numbered_id("m", n)},
          {"role", "assistant"},
          {"content", {{{"type", "tool_use"}, {"id", numbered_id("c", n)}, {"name", "t"}, {"input", {{"n", n}}}}}}}}};
}

ordered_json result_of_claude(int n) {
    return user_of_claude(
        n, numbered_id("a", n),
        {{{"type", "tool_result"}, {"tool_use_id", numbered_id("c", n)}, {"content", numbered_id("o", n)}}});
}

/// Replies in a row, then their results.
std::string claude_late_results(int n) {
    std::vector<ordered_json> records{user_of_claude(n, nullptr, "go")};
    ordered_json parent = numbered_id("u", n);
    for (int i = 0; i < n; ++i) records.push_back(reply_of_claude(i, std::exchange(parent, numbered_id("a", i))));
    for (int i = 0; i < n; ++i) records.push_back(result_of_claude(i));
    return as_lines(records);
}

/// Records that are no messages, boundaries that keep the first prompt, and a look at each of the records.
std::string claude_boundaries(int n) {
    std::vector<ordered_json> records{user_of_claude(-1, nullptr, "go")};
    const auto notice = [](const std::string& id, const std::string& parent) {
        return ordered_json{{"type", "system"}, {"subtype", "informational"}, {"uuid", id}, {"parentUuid", parent}};
    };
    for (int i = 0; i < n; ++i) records.push_back(notice(numbered_id("q", i), "u-1"));
    for (int i = 0; i < n; ++i)
        records.push_back({{"type", "system"},
                           {"subtype", "compact_boundary"},
                           {"uuid", numbered_id("b", i)},
                           {"parentUuid", nullptr},
                           {"compactMetadata", {{"preservedMessages", {{"uuids", {"u-1"}}, {"anchorUuid", "none"}}}}}});
    for (int i = 0; i < n; ++i) records.push_back(notice(numbered_id("w", i), numbered_id("q", i)));
    for (int i = 0; i < n; ++i)
        records.push_back(user_of_claude(i, numbered_id(i == 0 ? "b" : "u", i == 0 ? n - 1 : i - 1), "on"));
    return as_lines(records);
}

/// Boundaries in a row, then results of calls that are not in the log, which stand in front of all of them.
std::string claude_unknown_results(int n) {
    std::vector<ordered_json> records{user_of_claude(n, nullptr, "go")};
    for (int i = 0; i < n; ++i)
        records.push_back({{"type", "system"},
                           {"subtype", "compact_boundary"},
                           {"uuid", numbered_id("b", i)},
                           {"parentUuid", nullptr}});
    for (int i = 0; i < n; ++i) records.push_back(result_of_claude(i));
    return as_lines(records);
}

std::string codex_work(int n) {
    std::vector<ordered_json> records{{{"type", "session_meta"}, {"payload", {{"id", "s"}}}}};
    const auto said = [](const char* role, const char* type, const std::string& text) {
        return ordered_json{{"type", "message"}, {"role", role}, {"content", {{{"type", type}, {"text", text}}}}};
    };
    for (int i = 0; i < n; ++i) {
        records.push_back({{"type", "response_item"}, {"payload", said("user", "input_text", numbered_id("u", i))}});
        records.push_back({{"type", "response_item"}, {"payload", said("assistant", "output_text", "yes")}});
        records.push_back(
            {{"type", "event_msg"},
             {"payload",
              {{"type", "token_count"},
               {"info", {{"total_token_usage", {{"input_tokens", 9 * i + 9}, {"output_tokens", i + 1}}}}}}}});
        if (i % 2 == 0)
            records.push_back(
                {{"type", "compacted"},
                 {"payload", {{"message", ""}, {"replacement_history", {said("user", "input_text", "sum")}}}}});
        if (i % 4 == 3)
            records.push_back({{"type", "event_msg"}, {"payload", {{"type", "thread_rolled_back"}, {"num_turns", 1}}}});
    }
    return as_lines(records);
}

ordered_json gemini_said(const std::string& id, const char* type, const std::string& content) {
    ordered_json record{{"id", id}, {"type", type}, {"content", content}};
    if (std::string_view(type) == "gemini") record["model"] = "g";
    return record;
}

/// Lists that change nothing: of the newest record alone, and with the first prompt.
std::string gemini_lists(int n) {
    std::vector<ordered_json> records{{{"sessionId", "s"}, {"projectHash", "h"}}};
    for (int i = 0; i < n; ++i) records.push_back(gemini_said(numbered_id("n", i), "info", "notice"));
    for (int i = 0; i < n; ++i)
        records.push_back(gemini_said(numbered_id("i", i), i % 2 == 0 ? "user" : "gemini", "go"));
    for (int i = 0; i < n; ++i) {
        ordered_json list = ordered_json::array();
        if (i % 2 == 0) list.push_back(gemini_said("i0", "user", "go"));
        list.push_back(gemini_said(numbered_id("i", n - 1), "info", "go"));
        records.push_back({{"$set", {{"messages", std::move(list)}}}});
    }
    return as_lines(records);
}

/// Replies that are no messages, then lists that change nothing.
std::string gemini_empty_replies(int n) {
    std::vector<ordered_json> records{{{"sessionId", "s"}, {"projectHash", "h"}}};
    for (int i = 0; i < n; ++i) records.push_back(gemini_said(numbered_id("i", i), "gemini", ""));
    records.push_back(gemini_said("z", "info", ""));
    for (int i = 0; i < n; ++i) records.push_back({{"$set", {{"messages", {gemini_said("z", "info", "")}}}}});
    records.push_back(gemini_said("u", "user", "go"));
    return as_lines(records);
}

/// A reply of many records, of which the first is written again in front of each of the lists that change nothing.
std::string gemini_one_reply(int n) {
    std::vector<ordered_json> records{{{"sessionId", "s"}, {"projectHash", "h"}}};
    for (int i = 0; i < n; ++i) {
        records.push_back(gemini_said(numbered_id("i", i), "gemini", ""));
        records.back()["toolCalls"] = {{{"id", numbered_id("c", i)}, {"name", "t"}, {"args", {{"n", i}}}}};
    }
    records.push_back(gemini_said("z", "info", ""));
    for (int i = 0; i < n; ++i) {
        records.push_back(gemini_said("i0", "gemini", ""));
        records.push_back({{"$set", {{"messages", {gemini_said("z", "info", "")}}}}});
    }
    return as_lines(records);
}

/// All calls in one record, which is written again and again without them.
std::string gemini_written_again(int n) {
    std::vector<ordered_json> records{{{"sessionId", "s"}, {"projectHash", "h"}}};
    records.push_back(gemini_said("i", "gemini", "look"));
    for (int i = 0; i < n; ++i)
        records.back()["toolCalls"].push_back({{"id", numbered_id("c", i)}, {"name", "t"}, {"args", {{"n", i}}}});
    for (int i = 0; i < n; ++i) records.push_back(gemini_said("i", "gemini", numbered_id("look ", i)));
    return as_lines(records);
}

ordered_json copilot_event(int& n, const char* type, ordered_json data) {
    ++n;
    return {
        {"type", type}, {"data", std::move(data)}, {"id", numbered_id("e", n)}, {"parentId", numbered_id("e", n - 1)}};
}

ordered_json copilot_asking(int i, const char* kind, const ordered_json& arguments) {
    const ordered_json request{{"toolCallId", numbered_id(kind, i)}, {"name", "t"}, {"arguments", arguments}};
    return {{"content", ""}, {"apiCallId", numbered_id("a", i)}, {"toolRequests", ordered_json::array({request})}};
}

ordered_json copilot_result(const std::string& call) {
    return {{"toolCallId", call}, {"success", true}, {"result", {{"content", "done"}}}};
}

/// Summaries and ends of runs behind every reply, and results that come behind all of them, again and again.
std::string copilot_work(int n) {
    std::vector<ordered_json> records;
    int id = 0;
    const auto tell = [&](const char* type, ordered_json data) {
        records.push_back(copilot_event(id, type, std::move(data)));
    };
    for (int i = 0; i < n; ++i) {
        tell("user.message", {{"content", numbered_id("go ", i)}});
        tell("assistant.message", copilot_asking(i, "c", {{"n", i}}));
        tell("session.compaction_start", ordered_json::object());
        tell("session.compaction_complete", {{"success", true}, {"summaryContent", "so far"}});
        tell("session.shutdown", {{"modelMetrics", {{"m", {{"usage", {{"inputTokens", i + 1}}}}}}}});
        if (i % 4 == 0) tell("session.resume", ordered_json::object());
    }
    for (int i = 0; i < 2 * n; ++i) tell("tool.execution_complete", copilot_result(numbered_id("c", 2 * n - 1 - i)));
    return as_lines(records);
}

/// Sub-agents that speak in turns, and whose results come in the other order.
std::string copilot_agents(int n) {
    std::vector<ordered_json> records;
    int id = 0;
    const auto tell = [&](const char* type, ordered_json data, const std::string& agent = {}) {
        records.push_back(copilot_event(id, type, std::move(data)));
        if (!agent.empty()) records.back()["agentId"] = agent;
    };
    for (int i = 0; i < n; ++i) {
        tell("assistant.message", copilot_asking(i, "c", {{"prompt", numbered_id("do ", i)}}));
        tell("subagent.started", {{"toolCallId", numbered_id("c", i)}, {"parentId", numbered_id("g", (i + 1) % n)}},
             numbered_id("g", i));
    }
    for (int i = 0; i < 4 * n; ++i) tell("assistant.message", {{"content", "yes"}}, numbered_id("g", i * 7 % n));
    for (int i = 0; i < n; ++i) tell("tool.execution_complete", copilot_result(numbered_id("c", n - 1 - i)));
    return as_lines(records);
}

std::string opencode_work(int n) {
    ordered_json messages = ordered_json::array();
    const auto add = [&](ordered_json info, ordered_json part) {
        info["time"] = {{"created", 1}};
        messages.push_back({{"info", std::move(info)}, {"parts", ordered_json::array({std::move(part)})}});
    };
    for (int i = 0; i < n; ++i) {
        add({{"id", numbered_id("u", i)}, {"role", "user"}}, {{"type", "text"}, {"text", numbered_id("go ", i)}});
        add({{"id", numbered_id("a", i)}, {"role", "assistant"}}, {{"type", "text"}, {"text", "yes"}});
        add({{"id", numbered_id("q", i)}, {"role", "user"}},
            {{"type", "compaction"}, {"tail_start_id", numbered_id("u", i)}});
        add({{"id", numbered_id("s", i)}, {"role", "assistant"}, {"summary", true}, {"finish", "stop"}},
            {{"type", "text"}, {"text", "so far"}});
    }
    return ordered_json{{"info", {{"id", "s"}}}, {"messages", std::move(messages)}}.dump();
}

/// Rows of version 2: calls that never ended, and compactions.
std::string opencode_v2_work(int n) {
    ordered_json rows = ordered_json::array();
    for (int i = 0; i < n; ++i) {
        rows.push_back({{"type", "user"}, {"text", numbered_id("go ", i)}});
        rows.push_back(
            {{"type", "assistant"}, {"content", {{{"type", "tool"}, {"id", numbered_id("c", i)}, {"name", "t"}}}}});
        rows.push_back({{"type", "compaction"}, {"summary", "so far"}});
    }
    return ordered_json{{"info", {{"id", "s"}}}, {"messages", std::move(rows)}}.dump();
}

/// Condensations that forget what has come since the one before.
std::string openhands_work(int n) {
    ordered_json events = ordered_json::array();
    for (int i = 0; i < n; ++i) {
        events.push_back({{"id", 2 * i}, {"source", "user"}, {"action", "message"}, {"args", {{"content", "x"}}}});
        events.push_back(
            {{"id", 2 * i + 1},
             {"source", "agent"},
             {"action", "condensation"},
             {"args", {{"forgotten_events_start_id", 0}, {"forgotten_events_end_id", 2 * i}, {"summary", "s"}}}});
    }
    return events.dump();
}

/// Condensations that put their summary in the middle of all that came before them.
std::string openhands_v1_middles(int n) {
    std::vector<ordered_json> records;
    n *= 8;  // so that a walk shows beside what else there is to do
    for (int i = 0; i < n; ++i) {
        const std::string text(i == 0 ? std::size_t{1} << 20 : 1, 'x');  // so long that few views are copied
        records.push_back({{"id", numbered_id("u", i)},
                           {"source", "user"},
                           {"kind", "MessageEvent"},
                           {"llm_message", {{"role", "user"}, {"content", {{{"type", "text"}, {"text", text}}}}}}});
    }
    for (int i = 0; i < n; ++i)
        records.push_back({{"id", numbered_id("c", i)},
                           {"source", "environment"},
                           {"kind", "Condensation"},
                           {"forgotten_event_ids", ordered_json::array()},
                           {"summary", "so far"},
                           {"summary_offset", (n + i) / 2}});
    return as_lines(records);
}

std::string openhands_v1_work(int n) {
    std::vector<ordered_json> records;
    for (int i = 0; i < n; ++i) {
        records.push_back({{"id", numbered_id("u", i)},
                           {"source", "user"},
                           {"kind", "MessageEvent"},
                           {"llm_message", {{"role", "user"}, {"content", {{{"type", "text"}, {"text", "x"}}}}}}});
        records.push_back({{"id", numbered_id("c", i)},
                           {"source", "environment"},
                           {"kind", "Condensation"},
                           {"forgotten_event_ids", {numbered_id("u", i), numbered_id("c", i - 1) + "-summary"}},
                           {"summary", "so far"},
                           {"summary_offset", 0}});
    }
    return as_lines(records);
}

std::string swe_agent_work(int n) {
    ordered_json history = ordered_json::array();
    for (int i = 0; i < n; ++i) {
        history.push_back({{"role", "user"}, {"content", numbered_id("u", i)}, {"agent", "main"}});
        history.push_back({{"role", "assistant"}, {"content", "yes"}, {"agent", "main"}});
    }
    return ordered_json{{"environment", "swe_main"}, {"trajectory", ordered_json::array()}, {"history", history}}
        .dump();
}

ordered_json pi_record_of(const char* kind, int n, const ordered_json& parent, ordered_json more) {
    ordered_json record{{"type", "message"}, {"id", numbered_id(kind, n)}, {"parentId", parent}};
    record.update(more);
    return record;
}

/// Branches from the first prompt, and compactions and edits of what came since the one before.
std::string pi_work(int n) {
    std::vector<ordered_json> records{{{"type", "session"}, {"version", 3}, {"id", "s"}}};
    const ordered_json call{{"type", "toolCall"}, {"id", "c"}, {"name", "t"}, {"arguments", {{"n", 1}}}};
    const ordered_json prompt{{"message", {{"role", "user"}, {"content", "go"}}}};
    ordered_json parent = nullptr;
    for (int i = 0; i < n; ++i) {
        records.push_back(pi_record_of("u", i, parent, prompt));
        records.push_back(
            pi_record_of("a", i, numbered_id("u", i),
                         {{"message", {{"role", "assistant"}, {"content", ordered_json::array({call})}}}}));
        records.push_back(pi_record_of(
            "r", i, numbered_id("a", i),
            {{"message", {{"role", "toolResult"}, {"toolCallId", i % 2 == 0 ? "c" : "d"}, {"content", "ok"}}}}));
        records.push_back(pi_record_of("b", i, "u0", prompt));
        records.push_back(
            pi_record_of("k", i, numbered_id("r", i),
                         {{"type", "compaction"}, {"summary", "so far"}, {"firstKeptEntryId", numbered_id("a", i)}}));
        records.push_back(pi_record_of("e", i, numbered_id("k", i),
                                       {{"type", "context_edit"},
                                        {"targetId", numbered_id("r", i)},
                                        {"replacement", {{"content", numbered_id("o", i)}}}}));
        parent = numbered_id("e", i);
    }
    return as_lines(records);
}

/// Resets, leaves that go back to the first prompt, records with one id, and sub-agents in a result.
std::string pi_detours(int n) {
    std::vector<ordered_json> records{{{"type", "session"}, {"version", 3}, {"id", "s"}}};
    const ordered_json prompt{{"message", {{"role", "user"}, {"content", "go"}}}};
    records.push_back(pi_record_of("u", 0, nullptr, prompt));
    for (int i = 0; i < n; ++i) {
        records.push_back(pi_record_of("l", i, "u0", {{"type", "leaf"}, {"targetId", "u0"}}));
        records.push_back(pi_record_of("v", i, numbered_id("l", i), prompt));
        records.push_back(pi_record_of("u", 0, nullptr, prompt));
    }
    for (int i = 0; i < n; ++i) records.push_back(pi_record_of("g", i, numbered_id("v", i), {{"type", "reset"}}));
    for (int i = 0; i < n; ++i) records.push_back(pi_record_of("w", i, "v0", prompt));
    ordered_json agents = ordered_json::array();
    for (int i = 0; i < n; ++i) agents.push_back({{"messages", {{{"role", "user"}, {"content", "look"}}}}});
    records.push_back(pi_record_of("x", 0, nullptr,
                                   {{"message",
                                     {{"role", "toolResult"},
                                      {"toolCallId", "c"},
                                      {"content", "ok"},
                                      {"details", {{"results", std::move(agents)}}}}}}));
    return as_lines(records);
}

/// A request that goes on from the one before.
ordered_json responses_request(int n) {
    ordered_json request{{"model", "m"}, {"input", {{{"role", "user"}, {"content", numbered_id("u", n)}}}}};
    if (n > 0) request["previous_response_id"] = numbered_id("r", n - 1);
    return request;
}

ordered_json responses_answer(int n) {
    return {{"id", numbered_id("r", n)},
            {"output",
             {{{"type", "message"}, {"role", "assistant"}, {"content", {{{"type", "output_text"}, {"text", "yes"}}}}}}},
            {"usage", {{"input_tokens", 3}, {"output_tokens", 1}}}};
}

std::string exchanges_work(int n) {
    std::vector<ordered_json> records;
    for (int i = 0; i < n; ++i)
        records.push_back({{"request", responses_request(i)}, {"response", responses_answer(i)}});
    return as_lines(records);
}

std::string har_work(int n) {
    ordered_json entries = ordered_json::array();
    for (int i = 0; i < n; ++i)
        entries.push_back(
            {{"request", {{"url", "https://h/v1/responses"}, {"postData", {{"text", responses_request(i).dump()}}}}},
             {"response", {{"status", 200}, {"content", {{"text", responses_answer(i).dump()}}}}}});
    return ordered_json{{"log", {{"version", "1.2"}, {"entries", std::move(entries)}}}}.dump();
}

ordered_json said_in_chat(const char* role, const std::string& text) { return {{"role", role}, {"content", text}}; }

/// Spans within each other, of which each tells something of its own.
std::string otel_work(int n) {
    std::vector<ordered_json> records;
    for (int i = 0; i < n; ++i) {
        ordered_json attributes = ordered_json::array();
        const auto text = [](const char* role, const std::string& content) {
            return ordered_json{{{"role", role}, {"parts", {{{"type", "text"}, {"content", content}}}}}}.dump();
        };
        for (const auto& [key, value] : {std::pair<std::string, std::string>{"gen_ai.operation.name", "chat"},
                                         {"gen_ai.response.id", numbered_id("r", i)},
                                         {"gen_ai.input.messages", text("user", numbered_id("u", i))},
                                         {"gen_ai.output.messages", text("assistant", "yes")}})
            attributes.push_back({{"key", key}, {"value", {{"stringValue", value}}}});
        ordered_json record;
        record["resourceSpans"][0]["scopeSpans"][0]["spans"] = {{{"traceId", "t"},
                                                                 {"spanId", numbered_id("s", i)},
                                                                 {"parentSpanId", numbered_id("s", i / 2 * 2 + 1)},
                                                                 {"startTimeUnixNano", "1700000000000000000"},
                                                                 {"attributes", attributes}}};
        records.push_back(std::move(record));
    }
    return as_lines(records);
}

/// Runs within each other.
std::string langsmith_work(int n) {
    std::vector<ordered_json> records;
    for (int i = 0; i < n; ++i)
        records.push_back({{"id", numbered_id("l", i)},
                           {"parent_run_id", numbered_id("l", i + (i % 8 == 7 ? n : 1))},
                           {"run_type", "llm"},
                           {"start_time", "2026-01-01T00:00:00"},
                           {"inputs", {{"messages", {said_in_chat("user", numbered_id("u", i))}}}},
                           {"outputs", said_in_chat("assistant", "yes")}});
    return as_lines(records);
}

ordered_json langfuse_record(int n, int size) {
    return {{"id", numbered_id("g", n)},
            {"parentObservationId", numbered_id("g", n + (n % 8 == 7 ? size : 1))},
            {"type", "GENERATION"},
            {"startTime", "2026-01-01T00:00:00.000Z"},
            {"model", "m"},
            {"input", ordered_json{{"messages", {said_in_chat("user", numbered_id("u", n))}}}.dump()},
            {"output", said_in_chat("assistant", "yes").dump()}};
}

std::string langfuse_work(int n) {
    std::vector<ordered_json> records;
    for (int i = 0; i < n; ++i) records.push_back(langfuse_record(i, n));
    return as_lines(records);
}

std::string langfuse_csv_work(int n) {
    std::string text;
    for (int i = 0; i < n; ++i) {
        const ordered_json record = langfuse_record(i, n);
        std::string names;
        std::string cells;
        for (const auto& [key, value] : record.items()) {
            names += (names.empty() ? "\"" : ",\"") + key + "\"";
            cells += cells.empty() ? "\"" : ",\"";
            for (const char c : value.get<std::string>()) cells += c == '"' ? std::string("\"\"") : std::string(1, c);
            cells += '"';
        }
        if (i == 0) text += names + "\n";
        text += cells + "\n";
    }
    return text;
}

ordered_json qwen_said(const std::string& id, const std::string& parent, const char* type, ordered_json parts) {
    return {{"uuid", id},
            {"parentUuid", parent.empty() ? ordered_json(nullptr) : ordered_json(parent)},
            {"sessionId", "s"},
            {"type", type},
            {"message", {{"parts", std::move(parts)}}}};
}

/// Branches that end, parents that are not there, records that come again, compressions in a row behind results, and
/// events of calls that are no replies.
std::string qwen_work(int n) {
    const ordered_json hello{{{"text", "go"}}};
    std::vector<ordered_json> records{qwen_said("u", "", "user", hello)};
    ordered_json calls = ordered_json::array();
    for (int i = 0; i < n; ++i)
        calls.push_back({{"functionCall", {{"id", numbered_id("c", i)}, {"name", "t"}, {"args", {{"n", i}}}}}});
    records.push_back(qwen_said("a", "u", "assistant", std::move(calls)));
    std::string last = "a";
    const auto add = [&](ordered_json record) {
        last = record["uuid"];
        records.push_back(std::move(record));
    };
    for (int i = 0; i < n; ++i) {
        records.push_back(qwen_said(numbered_id("d", i), i % 2 == 0 ? "a" : "none", "assistant", hello));
        records.push_back(qwen_said("u", "", "user", {{{"text", numbered_id("p", i)}}}));
        add(qwen_said(numbered_id("t", i), last, "tool_result",
                      {{{"functionResponse", {{"id", numbered_id("c", i)}, {"response", {{"output", "x"}}}}}}}));
    }
    for (int i = 0; i < n; ++i) {
        ordered_json payload{{"compressedHistory", {{{"role", "user"}, {"parts", hello}}}}};
        add({{"uuid", numbered_id("z", i)},
             {"parentUuid", last},
             {"sessionId", "s"},
             {"type", "system"},
             {"subtype", "chat_compression"},
             {"systemPayload", std::move(payload)}});
        const ordered_json event{{"event.name", "qwen-code.api_response"}, {"input_token_count", 5}};
        add({{"uuid", numbered_id("e", i)},
             {"parentUuid", last},
             {"sessionId", "s"},
             {"type", "system"},
             {"subtype", "ui_telemetry"},
             {"systemPayload", {{"uiEvent", event}}}});
    }
    add(qwen_said("end", last, "assistant", hello));
    return as_lines(records);
}

ordered_json said_in_cline(const char* role, const std::string& text, int ms) {
    return {{"role", role}, {"content", {{{"type", "text"}, {"text", text}}}}, {"ts", ms}};
}

ordered_json shown_by_cline(const char* kind, int ms, const ordered_json& more) {
    ordered_json record{{"ts", ms}, {"type", "say"}, {"say", kind}};
    record.update(more);
    return record;
}

/// Each request leaves out all but the messages that came last, and one text is changed for each.
std::string cline_work(int n) {
    ordered_json messages = ordered_json::array();
    ordered_json records = ordered_json::array();
    ordered_json changes = ordered_json::array();
    for (int i = 0; i < n; ++i) {
        messages.push_back(said_in_cline("user", numbered_id("u", i), 1'000 * i + 110));
        messages.push_back(said_in_cline("assistant", "yes", 1'000 * i + 900));
        ordered_json more{{"conversationHistoryIndex", 2 * i - 1}};
        if (i > 1) more["conversationHistoryDeletedRange"] = {0, 2 * i - 2};
        const ordered_json reported{{"tokensIn", 3}, {"tokensOut", 1}};
        ordered_json request = more;
        request["text"] = reported.dump();
        records.push_back(shown_by_cline("api_req_started", 1'000 * i + 100, request));
        records.push_back(shown_by_cline("text", 1'000 * i + 500, more));
        const std::string change = "[" + std::to_string(2 * i) + ",[0,[[0,[[" + std::to_string(1'000 * i + 200) +
                                   ",\"text\",[\"other\"],[]]]]]]]";
        changes.push_back(ordered_json::parse(change));
    }
    return messages.dump() + "\n" + records.dump() + "\n" + changes.dump() + "\n";
}

/// Each request holds the first message, of which so many blocks are changed that it does not have.
std::string cline_blocks(int n) {
    ordered_json messages = ordered_json::array();
    ordered_json records = ordered_json::array();
    ordered_json blocks = ordered_json::array();
    for (int i = 0; i < n; ++i) {
        messages.push_back(said_in_cline("user", numbered_id("u", i), 1'000 * i + 110));
        messages.push_back(said_in_cline("assistant", "yes", 1'000 * i + 900));
        ordered_json request = ordered_json::object();
        if (i > 1) request["conversationHistoryDeletedRange"] = {1, 2 * i - 2};
        ordered_json reported = request;
        reported["text"] = R"({"tokensIn":3,"tokensOut":1})";
        records.push_back(shown_by_cline("api_req_started", 1'000 * i + 100, reported));
        records.push_back(shown_by_cline("text", 1'000 * i + 500, request));
        blocks.push_back(ordered_json::parse("[" + std::to_string(i + 1) + R"(,[[150,"text",["other"],[]]]])"));
    }
    return messages.dump() + "\n" + records.dump() + "\n[[0,[0," + blocks.dump() + "]]]\n";
}

/// A summary behind each reply, and a cut in front of it.
std::string roo_work(int n) {
    ordered_json messages = ordered_json::array();
    for (int i = 0; i < n; ++i) {
        messages.push_back(said_in_cline("user", numbered_id("u", i), 1'000 * i + 110));
        messages.back()["truncationParent"] = numbered_id("m", i);
        messages.push_back(said_in_cline("assistant", "yes", 1'000 * i + 900));
        messages.push_back(said_in_cline("user", "cut", 1'000 * i + 910));
        messages.back()["isTruncationMarker"] = true;
        messages.back()["truncationId"] = numbered_id("m", i);
        messages.push_back(said_in_cline("user", "so far", 1'000 * i + 920));
        messages.back()["isSummary"] = true;
        messages.back()["condenseId"] = numbered_id("s", i);
    }
    return messages.dump() + "\n";
}

struct Shape {
    const char* name;
    logs::Format format;
    std::function<std::string(int)> log;
    double min_messages = 0;       ///< for each of n
    double least_compactions = 0;  ///< for each of n
};

}  // namespace

TEST_CASE("reading takes work by the size of the log, in every format", "[logs][large]") {
    using enum logs::Format;
    const std::vector<Shape> shapes{{"late results", claude_code, claude_late_results, 2},
                                    {"boundaries", claude_code, claude_boundaries, 1, 1},
                                    {"unknown results", claude_code, claude_unknown_results, 1, 1},
                                    {"codex", codex, codex_work, 1, .3},
                                    {"gemini", gemini_cli, gemini_lists, 1},
                                    {"empty replies", gemini_cli, gemini_empty_replies},
                                    {"one reply", gemini_cli, gemini_one_reply},
                                    {"written again", gemini_cli, gemini_written_again},
                                    {"copilot", copilot_cli, copilot_work, 2, 1},
                                    {"copilot's agents", copilot_cli, copilot_agents, 6},
                                    {"opencode", opencode, opencode_work, 2, 1},
                                    {"opencode_v2", opencode, opencode_v2_work, 3, 1},
                                    {"openhands", openhands, openhands_work, 1, 1},
                                    {"openhands_v1", openhands_v1, openhands_v1_work, 1, 1},
                                    {"middles", openhands_v1, openhands_v1_middles, 8, 8},
                                    {"pi", pi, pi_work, 3, 1.9},
                                    {"detours", pi, pi_detours, 2, 1},
                                    {"swe_agent", swe_agent, swe_agent_work, 2},
                                    {"exchanges", exchanges, exchanges_work, 2},
                                    {"har", har, har_work, 2},
                                    {"otel", otel, otel_work, 1},
                                    {"langsmith", langsmith, langsmith_work, .2},
                                    {"langfuse", langfuse, langfuse_work, .2},
                                    {"langfuse_csv", langfuse_csv, langfuse_csv_work, .2},
                                    {"qwen_code", qwen_code, qwen_work, 1, 1},
                                    {"cline", cline, cline_work, 2, .9},
                                    {"blocks", cline, cline_blocks, 2, .9},
                                    {"roo", cline, roo_work, 2, 2}};
    for (const logs::Format format : logs::formats())
        CHECK(std::ranges::find(shapes, format, &Shape::format) != shapes.end());
    for (const Shape& shape : shapes) {
        CAPTURE(shape.name);
        constexpr int least = 300;
        constexpr double max_growth = 2.3;  // buffers grow by doubling
        Work before;
        for (const int n : {least, 2 * least, 4 * least}) {
            const Work work = work_of(shape.log(n), shape.format);
            CAPTURE(n, work.bytes, before.bytes, work.steps, before.steps, work.messages, work.compactions);
            CHECK(work.damaged == 0);
            CHECK(static_cast<double>(work.messages) >= shape.min_messages * n);
            CHECK(static_cast<double>(work.compactions) >= shape.least_compactions * n);
            if (before.bytes > 0) {
                CHECK(static_cast<double>(work.bytes) <= max_growth * static_cast<double>(before.bytes));
                CHECK(static_cast<double>(work.steps) <= max_growth * static_cast<double>(before.steps));
            }
            before = work;
        }
    }
}

TEST_CASE("no record of a long log walks over all that came before it", "[logs][large]") {
    constexpr int records = 10'000;  // with the square of it, each takes minutes
    CHECK(work_of(claude_late_results(records), logs::Format::claude_code).messages == 2 * records + 1);
    CHECK(work_of(claude_boundaries(records), logs::Format::claude_code).compactions == records);
    CHECK(work_of(gemini_lists(records), logs::Format::gemini_cli).messages >= records);
    CHECK(work_of(openhands_work(records), logs::Format::openhands).compactions == records);
    CHECK(work_of(pi_work(records), logs::Format::pi).messages >= 3 * records);
    CHECK(work_of(openhands_v1_work(records), logs::Format::openhands_v1).compactions == records);
    CHECK(work_of(qwen_work(records), logs::Format::qwen_code).compactions == records);
}

TEST_CASE("lists of Gemini CLI are compared for as long as what they take is in proportion to the file",
          "[logs][large]") {
    const std::string note = "list of messages that was not compared any more";
    CHECK(work_of(gemini_one_reply(200), logs::Format::gemini_cli).unknown.empty());
    const Work work = work_of(gemini_one_reply(1'200), logs::Format::gemini_cli);
    REQUIRE(work.unknown.contains(note));
    CHECK(work.unknown.at(note) < 1'200);
    CHECK(work.compactions == static_cast<std::size_t>(work.unknown.at(note)));
}
