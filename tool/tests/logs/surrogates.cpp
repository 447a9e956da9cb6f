// Half of a surrogate pair, as cut previews and Python's surrogateescape leave it, costs no record.
#include "claude_lines.hpp"
#include "support/catch.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

std::string with_all_replaced(std::string text, std::string_view what, const std::string& by) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
    return text;
}

ReadLog read_recognised(const std::string& name, const std::string& text) {
    return read_text_as(text, logs::recognise(text).value(), {.name = name});
}

struct SurrogateFixture {
    std::string name{};
    std::string word{};  // of a message
};

const std::vector<SurrogateFixture> fixtures_with_words{{"codex.jsonl", "Why is the build red?"},
                                                        {"gemini_cli.json", "hello"},
                                                        {"copilot_cli.jsonl", "Now fix it."},
                                                        {"openhands.json", "Fix it"},
                                                        {"swe_agent.traj", "I list."},
                                                        {"exchanges.jsonl", "Be kind."},
                                                        {"exchanges.jsonl", "noon"},
                                                        {"langsmith.jsonl", "time?"},
                                                        {"langfuse.json", "time?"},
                                                        {"opencode.json", "List the files"},
                                                        {"otel.jsonl", "time?"}};

std::string claude_session_with(const std::string& result) {
    return claude_prompt("u", "", "go") + claude_reply("a", "u", "m1", claude_call("t1")) +
           claude_record("r", "a",
                         R"("type":"user","message":{"role":"user","content":[{"type":"tool_result",)"
                         R"("tool_use_id":"t1","content":")" +
                             result + R"("}]})") +
           claude_reply("b", "r", "m2", claude_text("done"), R"("input_tokens":10,"output_tokens":5)",
                        R"("requestId":"r2",)");
}

}  // namespace

TEST_CASE("a result with half of a surrogate pair is read with U+FFFD", "[logs]") {
    const ReadLog log = read_claude(claude_session_with("built 800 lines \\ud83d"));
    CHECK(log.notes.damaged == 0);
    CHECK(log.notes.repaired == 1);
    CHECK(log.notes.repaired_lines == std::set<std::size_t>{3});
    REQUIRE(log.sessions.size() == 1);
    const auto& recording = log.sessions[0].recording;
    REQUIRE(recording.messages.size() == 4);
    CHECK(recording.messages[2].json()["content"][0]["content"] == "built 800 lines \xEF\xBF\xBD");
    CHECK(recording.messages_with_invalid_utf8 == std::vector<std::size_t>{2});
}

TEST_CASE("whole pairs and escaped backslashes are left as they are", "[logs]") {
    const ReadLog log = read_claude(claude_session_with(R"(\ud83d\ude00 \\ud83d \uD83D\uDE00)"));
    CHECK(log.notes.repaired == 0);
    CHECK(log.sessions.at(0).recording.messages.at(2).json()["content"][0]["content"] ==
          "\xF0\x9F\x98\x80 \\ud83d \xF0\x9F\x98\x80");
    CHECK(log.sessions[0].recording.messages_with_invalid_utf8.empty());
}

TEST_CASE("every way to write half of a pair is read as one U+FFFD", "[logs]") {
    const std::string half = GENERATE(R"(\ud83d)", R"(\udcff)", R"(\uD83D)", R"(\uDCFF)", "\xFF", "\xED\xA0");
    INFO(half);
    const ReadLog log = read_claude(claude_session_with("a " + half + " b"));
    CHECK(log.notes.repaired == 1);
    const std::string read =
        log.sessions.at(0).recording.messages.at(2).json()["content"][0]["content"].get<std::string>();
    CHECK(with_all_replaced(read, "\xEF\xBF\xBD\xEF\xBF\xBD", "\xEF\xBF\xBD") == "a \xEF\xBF\xBD b");
    CHECK(log.sessions[0].recording.messages_with_invalid_utf8 == std::vector<std::size_t>{2});
}

TEST_CASE("a message is named only if U+FFFD of it was mended", "[logs]") {
    const ReadLog genuine = read_claude(claude_session_with(R"(a \ufffd)") + claude_prompt("v", "b", R"(b \ud83d)"));
    CHECK(genuine.notes.repaired == 1);
    CHECK(genuine.sessions.at(0).recording.messages_with_invalid_utf8 == std::vector<std::size_t>{4});
    const ReadLog beside = read_claude(with_all_replaced(claude_session_with("read"), R"("type":"user")",
                                                         R"("toolUseResult":"\ud83d","type":"user")"));
    CHECK(beside.notes.repaired == 2);
    CHECK(beside.sessions.at(0).recording.messages_with_invalid_utf8.empty());
}

TEST_CASE("a reply of several records is named whichever of them was mended", "[logs]") {
    const std::string second = claude_reply("a2", "a", "m1", claude_text("I look \\ud83d"));
    const ReadLog log =
        read_claude(claude_prompt("u", "", "go") + claude_reply("a", "u", "m1", claude_text("Hm.")) + second);
    CHECK(log.notes.repaired_lines == std::set<std::size_t>{3});
    CHECK(roles_of(log.sessions.at(0)) == "ua");
    CHECK(log.sessions[0].recording.messages_with_invalid_utf8 == std::vector<std::size_t>{1});
}

TEST_CASE("a cut line with half of a pair is damaged as before", "[logs]") {
    const ReadLog log = read_claude(claude_session_with("read") + R"({"type":"user","message":{"content":"\ud83d)");
    CHECK(log.notes.repaired == 0);
    REQUIRE(log.notes.damaged == 1);
    CHECK(log.notes.damaged_lines[0].line == 5);
}

TEST_CASE("logs of every kind keep a record with half of a surrogate pair", "[logs]") {
    for (const auto& [name, word] : fixtures_with_words) {
        for (const std::string half : {R"(\udcff)", R"(\uDCFF)"}) {
            INFO(name << " " << word << " " << half);
            const std::string text = fixture_text(name);
            REQUIRE(text.find(word) != std::string::npos);
            const ReadLog whole = read_recognised(name, text);
            const ReadLog repaired = read_recognised(name, with_all_replaced(text, word, word + half));
            CHECK(repaired.notes.damaged == whole.notes.damaged);
            CHECK(repaired.notes.repaired > 0);
            REQUIRE(repaired.sessions.size() == whole.sessions.size());
            std::size_t named = 0;
            for (std::size_t i = 0; i < whole.sessions.size(); ++i) {
                CHECK(roles_of(repaired.sessions[i]) == roles_of(whole.sessions[i]));
                for (const std::size_t at : repaired.sessions[i].recording.messages_with_invalid_utf8) {
                    const std::string shown = repaired.sessions[i].recording.messages.at(at).json().dump();
                    CHECK(shown.find("\xEF\xBF\xBD") != std::string::npos);
                    ++named;
                }
            }
            CHECK(named > 0);
        }
    }
}

TEST_CASE("JSON in a text of a log is mended too", "[logs]") {
    const std::string request = R"({\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"a \\ud83d\"}]})";
    const std::string line =
        R"({"timestamp":"2026-03-04T10:00:00Z","request":{"body":")" + request +
        R"("},"response":{"body":"data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",)"
        R"(\"content\":\"b \\udcff\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"}})";
    const ReadLog log = read_text_as(line, logs::Format::exchanges);
    CHECK(log.notes.repaired == 1);
    REQUIRE(log.sessions.size() == 1);
    CHECK(roles_of(log.sessions[0]) == "ua");
    CHECK(log.sessions[0].recording.messages[1].json()["content"] == "b \xEF\xBF\xBD");
    CHECK(log.sessions[0].recording.messages_with_invalid_utf8 == std::vector<std::size_t>{0, 1});
}
