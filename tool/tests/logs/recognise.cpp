#include "log_file.hpp"
#include "support/catch.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using logs::Format;
using logs::recognise;

TEST_CASE("each format is recognised by what a file holds, also by its first bytes alone", "[logs]") {
    const std::vector<std::pair<std::string, Format>> fixtures{{"claude_code.jsonl", Format::claude_code},
                                                               {"claude_code_odd.jsonl", Format::claude_code},
                                                               {"codex.jsonl", Format::codex},
                                                               {"codex_old.jsonl", Format::codex},
                                                               {"codex_ahead.jsonl", Format::codex},
                                                               {"gemini_cli.jsonl", Format::gemini_cli},
                                                               {"gemini_cli.json", Format::gemini_cli},
                                                               {"copilot_cli.jsonl", Format::copilot_cli},
                                                               {"copilot_cli_old.jsonl", Format::copilot_cli},
                                                               {"copilot_history.json", Format::copilot_cli},
                                                               {"swe_agent.traj", Format::swe_agent},
                                                               {"mini_swe_agent.traj.json", Format::swe_agent},
                                                               {"exchanges.jsonl", Format::exchanges},
                                                               {"responses.jsonl", Format::exchanges},
                                                               {"streamed.jsonl", Format::exchanges},
                                                               {"session.har", Format::har},
                                                               {"opencode.json", Format::opencode},
                                                               {"opencode_v2.json", Format::opencode},
                                                               {"openhands.json", Format::openhands},
                                                               {"otel.jsonl", Format::otel},
                                                               {"langsmith.jsonl", Format::langsmith},
                                                               {"langsmith.json", Format::langsmith},
                                                               {"langchain_messages.json", Format::langsmith},
                                                               {"langfuse.json", Format::langfuse},
                                                               {"langfuse.jsonl", Format::langfuse},
                                                               {"openhands_v1.jsonl", Format::openhands_v1},
                                                               {"openhands_v1.json", Format::openhands_v1},
                                                               {"base64.har", Format::har},
                                                               {"langfuse.csv", Format::langfuse_csv},
                                                               {"qwen_code.jsonl", Format::qwen_code},
                                                               {"qwen_code_agent.jsonl", Format::qwen_code},
                                                               {"pi.jsonl", Format::pi},
                                                               {"pi_old.jsonl", Format::pi},
                                                               {"openclaw.jsonl", Format::pi},
                                                               {"cline.jsonl", Format::cline},
                                                               {"roo_code.jsonl", Format::cline},
                                                               {"cline_session.json", Format::cline}};
    for (const auto& [name, format] : fixtures) {
        CAPTURE(name);
        const std::string text = fixture_text(name);
        CHECK(recognise(text) == format);
        CHECK(recognise(std::string_view(text).substr(0, 180)) == format);
        CHECK(recognise("\xEF\xBB\xBF" + text) == format);
    }
}

TEST_CASE("a format is recognised behind a first member of any length, if more of the file is given", "[logs]") {
    constexpr std::size_t first_look = 1U << 16U;
    const std::string long_member = R"("padding":")" + std::string(3 * first_look, 'x') + "\",";
    for (const char* name : {"claude_code.jsonl", "codex.jsonl", "gemini_cli.json", "mini_swe_agent.traj.json",
                             "exchanges.jsonl", "opencode.json", "openhands.json", "otel.jsonl", "langfuse.json",
                             "langsmith.json", "openhands_v1.json", "session.har", "qwen_code.jsonl", "pi.jsonl"}) {
        CAPTURE(name);
        std::string text = fixture_text(name);
        const auto format = recognise(text);
        text.insert(text.find('{') + 1, long_member);
        const auto early = logs::recognise_start(std::string_view(text).substr(0, first_look));
        CHECK_FALSE(early.format.has_value());
        CHECK(early.wants_more);
        CHECK(logs::recognise_start(text).format == format);
    }
    const std::string other = R"({"b":1,"a":{"c":2}})"
                              "\n";
    CHECK(logs::recognise_start(other).wants_more);  // another line may tell
    std::string many;
    for (int i = 0; i < 60; ++i) many += other;
    CHECK_FALSE(logs::recognise_start(many).wants_more);
    CHECK(logs::recognise_start(many).keys == std::vector<std::string>{"a", "b"});
    CHECK_FALSE(logs::recognise_start("no JSON\nat all").wants_more);
    std::string long_records;
    for (int i = 0; i < 3; ++i) long_records += R"({"messages":")" + std::string(first_look, 'x') + "\"}\n";
    CHECK(logs::recognise_start(std::string_view(long_records).substr(0, first_look)).wants_more);
    CHECK_FALSE(logs::recognise_start(long_records).wants_more);  // the first one is over
}

TEST_CASE("a damaged first line does not hide what a file is", "[logs]") {
    CHECK(recognise("{\"type\":\"user\",\"mess\n" + fixture_text("codex.jsonl")) == Format::codex);
    CHECK(recognise("\n\n" + fixture_text("claude_code.jsonl")) == Format::claude_code);
    for (const char* damage :
         {"{\"type\":\"user\",\"message\":{\n", "{\"type\":\"user\",\n", "{\"type\":\"us\n", "{\n"}) {
        CAPTURE(damage);
        CHECK(recognise(damage + fixture_text("claude_code.jsonl")) == Format::claude_code);
        CHECK(recognise(damage + fixture_text("gemini_cli.jsonl")) == Format::gemini_cli);
        CHECK(recognise(damage + fixture_text("copilot_cli.jsonl")) == Format::copilot_cli);
    }
}

TEST_CASE("sessions of pi are recognised behind a first line that is damaged or lost", "[logs]") {
    for (const char* name : {"pi.jsonl", "pi_old.jsonl", "openclaw.jsonl"}) {
        CAPTURE(name);
        const std::string text = fixture_text(name);
        const std::string behind = text.substr(text.find('\n') + 1);
        CHECK(recognise(behind) == Format::pi);
        CHECK(recognise("{\"type\":\"sess\n" + behind) == Format::pi);
    }
    for (const char* text :
         {R"({"type":"session","id":"a"})", R"({"type":"message","message":{"role":"user","content":"a"}})",
          R"({"type":"message","role":"user","content":"a","timestamp":1})", R"({"type":"custom","customType":"a"})"}) {
        CAPTURE(text);
        CHECK_FALSE(recognise(text).has_value());
    }
}

TEST_CASE("requests and responses are recognised as bodies, within them and as text", "[logs]") {
    for (const char* text :
         {R"({"request":{"method":"POST","json":{"messages":[]}},"response":{"status":200,"json":{}}})",
          R"({"request":"{\"messages\":[]}","response":"{\"id\":\"a\"}"})",
          R"({"messages":[{"role":"user","content":"a"}],"model":"m","response":"{\"id\":\"a\"}"})",
          R"({"messages":[{"role":"user","content":"a"}],"response":"event: message_start\ndata: {}"})",
          R"({"messages":[{"role":"user","content":"a"}],"response":{"body":{"id":"a"}}})"}) {
        CAPTURE(text);
        CHECK(recognise(text) == Format::exchanges);
    }
}

TEST_CASE("messages of LangChain are recognised without what it adds to them", "[logs]") {
    for (const char* text :
         {R"([{"type":"human","content":"a"},{"type":"ai","content":"b"}])",
          R"([{"type":"system","content":"s"},{"type":"human","content":"a"}])", R"({"type":"ai","content":"b"})",
          R"([{"type":"tool","content":"s","tool_call_id":"c"}])"}) {
        CAPTURE(text);
        CHECK(recognise(text) == Format::langsmith);
    }
    const ReadLog log =
        read_text_as(R"([{"type":"system","content":"s"},{"type":"human","content":"a"},{"type":"ai","content":"b"}])",
                     Format::langsmith);
    CHECK(log.notes.damaged == 0);
    REQUIRE(log.sessions.size() == 1);
    CHECK(roles_of(log.sessions[0]) == "sua");
    CHECK(log.sessions[0].calls.size() == 1);
    for (const char* text : {R"({"type":"system","content":"s"})", R"([{"type":"text","content":"a"}])",
                             R"([{"type":"human","role":"user","content":"a"}])", R"([{"type":"human"}])"}) {
        CAPTURE(text);
        CHECK_FALSE(recognise(text).has_value());
    }
}

TEST_CASE("sessions in the library's own form are no agent's log", "[logs]") {
    for (const char* text :
         {R"({"id":"a","messages":[{"role":"user","content":"x"}],"meta":{"t":[0]}})",
          R"([{"role":"user","content":"x"}])", R"({"model":"m","messages":[],"max_tokens":5})", "", "{", "\n\n",
          "not json", "id,name,type\n1,a,b\n", "type,input,traceId", R"({"type":"user"})", "{\"a\\", "\"", "}}]]"}) {
        CAPTURE(text);
        CHECK_FALSE(recognise(text).has_value());
    }
}

TEST_CASE("lists of messages are Cline's by what only its tasks have, and what it showed is too", "[logs]") {
    CHECK(recognise(R"([{"ts": 1, "type": "say", "say": "task", "text": "x"}])") == Format::cline);
    CHECK(recognise(R"([{"ts": 1, "type": "ask", "ask": "followup"}])") == Format::cline);
    CHECK(recognise(R"([{"role": "user", "content": [{"type": "text", "text": "x"}], "ts": 1}])") == Format::cline);
    CHECK(recognise(R"([{"role": "user", "content": [{"type": "text", "text": "<task>\nx</task>"}]}])") ==
          Format::cline);
    CHECK(recognise(R"([{"role": "user", "content": "<task>\nx</task>"}])") == Format::cline);
    for (const char* other : {
             R"([{"role": "user", "content": [{"type": "text", "text": "x"}]}])",
             R"([{"role": "user", "content": "x", "ts": 1}])",
             R"([{"role": "user", "content": [{"type": "text", "text": "x"}], "ts": 1, "seen": true}])",
             R"([{"role": "system", "content": [{"type": "text", "text": "x"}], "ts": 1}])",
             R"([{"type": "say", "text": "x"}])",
             R"({"id": "s", "messages": [{"role": "user", "content": "<task>x</task>"}]})",
         }) {
        CAPTURE(other);
        CHECK_FALSE(recognise(other).has_value());
    }
}

TEST_CASE("every format has a name of its own", "[logs]") {
    std::set<std::string_view> names;
    for (const Format format : logs::formats()) names.insert(logs::to_string(format));
    CHECK(names.size() == 17);
    CHECK_FALSE(names.contains(""));
}

TEST_CASE("records of Qwen Code are not taken for Claude Code's, nor the other way round", "[logs][qwen]") {
    const std::string chain = R"("uuid":"q1","parentUuid":null,"sessionId":"s","timestamp":"2026-11-20T09:00:00Z",)";
    CHECK(recognise("{" + chain + R"("type":"user","message":{"role":"user","parts":[{"text":"a"}]}})") ==
          Format::qwen_code);
    CHECK(recognise("{" + chain + R"("type":"user","message":{"role":"user","content":"a"}})") == Format::claude_code);
    CHECK(recognise("{" + chain + R"("type":"system","subtype":"rewind","systemPayload":{}})") == Format::qwen_code);
    CHECK(recognise("{" + chain + R"("type":"system","subtype":"compact_boundary","content":"c"})") ==
          Format::claude_code);
    const std::string untold = "{" + chain + R"("type":"system","cwd":"/w","version":"0.24.4","subtype":"rewind"})";
    CHECK_FALSE(recognise(untold + "\n"));
    CHECK(recognise(untold + "\n{" + chain + R"("type":"user","message":{"role":"user","parts":[]}})" + "\n") ==
          Format::qwen_code);
    CHECK(recognise(untold + "\n{" + chain + R"("type":"user","message":{"role":"user","content":"a"}})" + "\n") ==
          Format::claude_code);
    CHECK(recognise("{" + chain + R"("type":"system","subtype":"turn_duration","isSidechain":false})") ==
          Format::claude_code);
    CHECK(recognise("{" + chain + R"("type":"user","provena)") == Format::qwen_code);
    CHECK(recognise("{" + chain + R"("isSidechain":false,"type":"user","mess)") == Format::claude_code);
    CHECK(recognise("{" + chain + R"("type":"user","message":{"role":"user","cont)") == Format::claude_code);
}
