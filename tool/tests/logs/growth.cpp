// What a file may make a reader hold: logs whose messages are kept, forked or written again at every step.
#include "log_file.hpp"
#include "support/catch.hpp"

#include "logs/logs.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using nlohmann::ordered_json;

namespace {

/// What of a log the sessions hold.
struct Held {
    std::size_t bytes = 0;
    std::size_t calls = 0;
    logs::LogNotes notes{};
};

std::size_t size_of(const ordered_json& message) {
    constexpr std::size_t of_members = 32;
    const auto content = message.find("content");
    const bool is_text = content != message.end() && content->is_string();  // most are, and long
    return is_text ? of_members + content->get_ref<const std::string&>().size() : message.dump().size();
}

Held held_of(const std::string& text, logs::Format format) {
    Held held;
    std::istringstream in(text);
    held.notes = logs::read_log(in, format, {.name = "growth.jsonl"}, [&](logs::Session&& session) {
        held.calls += session.calls.size();
        for (const auto& message : session.recording.messages) held.bytes += size_of(message.json());
        for (const logs::Compaction& compaction : session.compactions) {
            for (const ordered_json& message : compaction.kept) held.bytes += size_of(message);
        }
    });
    return held;
}

const std::string filling(500, 'x');

/// Claude Code: each boundary keeps all that was sent.
std::string claude_log(int boundaries) {
    std::string text;
    std::string parent = "null";
    const auto add = [&](ordered_json record, const std::string& id) {
        record["uuid"] = id;
        record["parentUuid"] = parent == "null" ? ordered_json(nullptr) : ordered_json(parent);
        record["sessionId"] = "s";
        text += record.dump() + "\n";
        parent = id;
    };
    for (int i = 0; i < boundaries; ++i) {
        const std::string n = std::to_string(i);
        add({{"type", "user"}, {"message", {{"role", "user"}, {"content", n + filling}}}}, "u" + n);
        add({{"type", "assistant"},
             {"message",
              {{"id", "m" + n},
               {"role", "assistant"},
               {"content", {{{"type", "text"}, {"text", n}}}},
               {"usage", {{"input_tokens", 3}, {"output_tokens", 1}}}}}},
            "a" + n);
        add({{"type", "system"},
             {"subtype", "compact_boundary"},
             {"compactMetadata",
              {{"trigger", "auto"},
               {"preservedSegment", {{"headUuid", "u0"}, {"tailUuid", "a" + n}, {"anchorUuid", "b" + n}}}}}},
            "b" + n);
    }
    return text;
}

/// OpenHands: condensations that forget nothing.
std::string openhands_log(int condensations) {
    std::string text;
    for (int i = 0; i < condensations; ++i) {
        const std::string n = std::to_string(i);
        text +=
            ordered_json{{"id", "u" + n},
                         {"timestamp", "2026-01-01T00:00:00"},
                         {"source", "user"},
                         {"kind", "MessageEvent"},
                         {"llm_message", {{"role", "user"}, {"content", {{{"type", "text"}, {"text", n + filling}}}}}}}
                .dump() +
            "\n";
        text +=
            ordered_json{
                {"id", "c" + n},          {"timestamp", "2026-01-01T00:00:00"},           {"source", "environment"},
                {"kind", "Condensation"}, {"forgotten_event_ids", ordered_json::array()}, {"summary", "so far"},
                {"summary_offset", 0}}
                .dump() +
            "\n";
    }
    return text;
}

/// opencode: summaries whose tail is all that was sent.
std::string opencode_log(int summaries) {
    ordered_json messages = ordered_json::array();
    const auto add = [&](const std::string& id, const char* role, bool is_summary, ordered_json part) {
        ordered_json info{{"id", id}, {"role", role}, {"time", {{"created", 1}}}, {"finish", "stop"}};
        if (is_summary) info["summary"] = true;
        messages.push_back({{"info", std::move(info)}, {"parts", ordered_json::array({std::move(part)})}});
    };
    for (int i = 0; i < summaries; ++i) {
        const std::string n = std::to_string(i);
        add("u" + n, "user", false, {{"type", "text"}, {"text", n + filling}});
        add("q" + n, "user", false, {{"type", "compaction"}, {"tail_start_id", "u0"}});
        add("s" + n, "assistant", true, {{"type", "text"}, {"text", "so far"}});
    }
    return ordered_json{{"info", {{"id", "s"}}}, {"messages", std::move(messages)}}.dump();
}

/// pi: compactions that keep all that was sent.
std::string pi_log(int compactions) {
    std::string text = R"({"type":"session","version":3,"id":"s","timestamp":"2026-02-02T00:00:00Z","cwd":"/w"})"
                       "\n";
    ordered_json parent = nullptr;
    const auto add = [&](ordered_json record, const std::string& id) {
        record["id"] = id;
        record["parentId"] = std::exchange(parent, id);
        text += record.dump() + "\n";
    };
    for (int i = 0; i < compactions; ++i) {
        const std::string n = std::to_string(i);
        add({{"type", "message"}, {"message", {{"role", "user"}, {"content", n + filling}}}}, "u" + n);
        add({{"type", "message"}, {"message", {{"role", "assistant"}, {"content", n}}}}, "a" + n);
        add({{"type", "compaction"}, {"summary", "so far"}, {"firstKeptEntryId", "u0"}}, "k" + n);
        if (i % 2 == 0) add({{"type", "context_edit"}, {"targetId", "a0"}, {"replacement", {{"content", n}}}}, "e" + n);
    }
    return text;
}

/// OpenHands V0: condensations that forget nothing.
std::string openhands_v0_log(int condensations) {
    ordered_json events = ordered_json::array();
    for (int i = 0; i < condensations; ++i) {
        events.push_back({{"id", 2 * i},
                          {"source", "user"},
                          {"action", "message"},
                          {"args", {{"content", std::to_string(i) + filling}}}});
        events.push_back({{"id", 2 * i + 1},
                          {"source", "agent"},
                          {"action", "condensation"},
                          {"args", {{"forgotten_event_ids", ordered_json::array()}}}});
    }
    return events.dump();
}

/// Exchanges: all of them go on from one reply with a long history.
std::string forked_log(int forks) {
    ordered_json messages = ordered_json::array();
    for (int i = 0; i < forks; ++i) messages.push_back({{"role", "user"}, {"content", std::to_string(i) + filling}});
    const auto exchange = [](ordered_json request, const std::string& id) {
        return ordered_json{{"request", std::move(request)},
                            {"response",
                             {{"id", id},
                              {"output",
                               {{{"type", "message"},
                                 {"role", "assistant"},
                                 {"content", {{{"type", "output_text"}, {"text", "yes"}}}}}}},
                              {"usage", {{"input_tokens", 3}, {"output_tokens", 1}}}}}}
                   .dump() +
               "\n";
    };
    std::string text = exchange({{"model", "m"}, {"input", messages}}, "r");
    for (int i = 0; i < forks; ++i)
        text += exchange({{"model", "m"},
                          {"previous_response_id", "r"},
                          {"input", {{{"role", "user"}, {"content", "go on " + std::to_string(i)}}}}},
                         "f" + std::to_string(i));
    return text;
}

/// Gemini CLI: a message that every history kept, written again as a large one.
std::string gemini_log(int histories) {
    const auto message = [](const std::string& id, const std::string& content) {
        return ordered_json{{"id", id}, {"type", "user"}, {"content", content}};
    };
    std::string text = ordered_json{{"sessionId", "s"}, {"projectHash", "h"}}.dump() + "\n";
    text += message("x", "go").dump() + "\n" + message("y", "on").dump() + "\n";
    for (int i = 0; i < histories; ++i) {
        const std::string n = std::to_string(i);
        text += ordered_json{{"$set", {{"messages", {message("x", "go"), message("s" + n, "summary " + n)}}}}}.dump() +
                "\n";
    }
    return text + message("x", std::string(static_cast<std::size_t>(histories) * 500, 'x')).dump() + "\n";
}

/// Copilot CLI: each summary begins among the results of one reply, which is kept with all of them.
std::string copilot_log_of_summaries(int summaries) {
    std::string text;
    const auto tell = [&](const char* type, const ordered_json& data) {
        text += ordered_json{{"type", type}, {"data", data}}.dump() + "\n";
    };
    ordered_json requests = ordered_json::array();
    for (int i = 0; i < summaries; ++i) requests.push_back({{"toolCallId", "c" + std::to_string(i)}, {"name", "t"}});
    tell("user.message", {{"content", "go"}});
    tell("assistant.message", {{"content", ""}, {"toolRequests", requests}});
    for (int i = 0; i < summaries; ++i) {
        tell("session.compaction_start", ordered_json::object());
        tell("tool.execution_complete",
             {{"toolCallId", "c" + std::to_string(i)}, {"success", true}, {"result", {{"content", filling}}}});
        tell("session.compaction_complete", {{"success", true}, {"summaryContent", "so far"}});
    }
    tell("session.shutdown", {{"modelMetrics", {{"m", {{"usage", {{"inputTokens", 1}}}}}}}});
    return text;
}

ordered_json task_message(const char* role, const std::string& text, int ms) {
    return {{"role", role}, {"content", {{{"type", "text"}, {"text", text}}}}, {"ts", ms}};
}

/// Cline: requests of which each changes a text, and keeps the rest.
std::string cline_log(int requests) {
    ordered_json messages = ordered_json::array();
    ordered_json records = ordered_json::array();
    std::string changes;
    for (int i = 0; i < requests; ++i) {
        messages.push_back(task_message("user", std::to_string(i) + filling, 1'000 * i + 110));
        messages.push_back(task_message("assistant", "yes", 1'000 * i + 900));
        records.push_back({{"ts", 1'000 * i + 100},
                           {"type", "say"},
                           {"say", "api_req_started"},
                           {"text", R"({"tokensIn":3,"tokensOut":1})"}});
        records.push_back({{"ts", 1'000 * i + 500}, {"type", "say"}, {"say", "text"}});
        changes += std::string(changes.empty() ? "[" : ",") + "[" + std::to_string(2 * i) + ",[0,[[0,[[" +
                   std::to_string(1'000 * i + 200) + R"(,"text",["other"],[]]]]]]])";
    }
    return messages.dump() + "\n" + records.dump() + "\n" + changes + "]\n";
}

/// Roo Code: cuts that leave out nothing.
std::string roo_log(int cuts) {
    ordered_json messages = ordered_json::array();
    for (int i = 0; i < cuts; ++i) {
        messages.push_back(task_message("user", std::to_string(i) + filling, 1'000 * i + 110));
        messages.push_back(task_message("assistant", "yes", 1'000 * i + 900));
        if (i % 2 == 0) continue;
        messages.push_back(task_message("user", "cut", 1'000 * i + 910));
        messages.back()["isTruncationMarker"] = true;
        messages.back()["truncationId"] = "m" + std::to_string(i);
    }
    return messages.dump() + "\n";
}

struct Grown {
    const char* name;
    logs::Format format;
    std::function<std::string(int)> log;
    std::size_t calls_for_each;
};

}  // namespace

TEST_CASE("what sessions hold grows with the file, whatever it has kept again and again", "[logs][large]") {
    constexpr std::size_t max_copied = std::size_t{64} << 20;
    for (const Grown& grown :
         {Grown{"claude", logs::Format::claude_code, claude_log, 1},
          Grown{"openhands", logs::Format::openhands_v1, openhands_log, 0},
          Grown{"openhands of before", logs::Format::openhands, openhands_v0_log, 0},
          Grown{"opencode", logs::Format::opencode, opencode_log, 0}, Grown{"pi", logs::Format::pi, pi_log, 1},
          Grown{"copilot", logs::Format::copilot_cli, copilot_log_of_summaries, 0},
          Grown{"gemini", logs::Format::gemini_cli, gemini_log, 0}, Grown{"cline", logs::Format::cline, cline_log, 1},
          Grown{"roo", logs::Format::cline, roo_log, 1},
          Grown{"previous_response_id", logs::Format::exchanges, forked_log, 1}}) {
        CAPTURE(grown.name);
        bool is_bounded = false;
        for (const int n : {250, 500, 1'000}) {
            const std::string log = grown.log(n);
            const Held held = held_of(log, grown.format);
            CAPTURE(n, log.size(), held.bytes);
            CHECK(held.bytes <= 2 * log.size() + max_copied);
            CHECK(held.calls >= grown.calls_for_each * static_cast<std::size_t>(n));
            CHECK(held.notes.damaged == 0);
            is_bounded = !held.notes.unknown.empty();
            if (n == 250) CHECK(held.notes.unknown.empty());
        }
        CHECK(is_bounded);  // and said
    }
}

TEST_CASE("a text of nothing but small values in a record is no JSON, in every format that has JSON in texts",
          "[logs]") {
    std::string numbers = R"({"messages":[0)";
    while (numbers.size() < 4'000'000) numbers += ",1";
    numbers += "]}";
    const auto run = [&](const char* id, const std::string& input) {
        return ordered_json{{"id", id},          {"type", "GENERATION"},
                            {"run_type", "llm"}, {"startTime", "2026-01-01T00:00:00Z"},
                            {"input", input},    {"output", R"({"role":"assistant","content":"yes"})"},
                            {"inputs", input},   {"outputs", R"({"role":"assistant","content":"yes"})"}};
    };
    const std::string good = R"({"messages":[{"role":"user","content":"go"}]})";
    const std::string runs = run("a", numbers).dump() + "\n" + run("b", good).dump() + "\n";
    const auto exchange = [&](const std::string& body) {
        return ordered_json{{"request", body},
                            {"response",
                             {{"id", "r"}, {"role", "assistant"}, {"content", {{{"type", "text"}, {"text", "yes"}}}}}}}
                   .dump() +
               "\n";
    };
    const auto entry = [](const std::string& body) {
        return ordered_json{{"request", {{"url", "x"}, {"postData", {{"text", body}}}}},
                            {"response", {{"content", {{"text", R"({"id":"r","role":"assistant","content":[]})"}}}}}};
    };
    const std::string archive =
        ordered_json{{"log", {{"version", "1.2"}, {"entries", {entry(numbers), entry(good)}}}}}.dump();
    for (const auto& [text, format] : {std::pair{runs, logs::Format::langfuse},
                                       {runs, logs::Format::langsmith},
                                       {exchange(numbers) + exchange(good), logs::Format::exchanges},
                                       {archive, logs::Format::har}}) {
        CAPTURE(logs::to_string(format));
        std::size_t messages = 0;
        std::istringstream in(text);
        (void)logs::read_log(in, format, {.name = "values.jsonl"},
                             [&](logs::Session&& session) { messages += session.recording.messages.size(); });
        CHECK(messages == 2);
    }
}
