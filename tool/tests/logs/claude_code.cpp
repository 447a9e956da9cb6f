#include "log_file.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using logs::Session;

TEST_CASE("records of one reply of Claude Code are one message and one call", "[logs]") {
    const ReadLog log = read_fixture("claude_code.jsonl");
    REQUIRE(log.sessions.size() == 2);
    const Session& main = log.sessions[0];
    CHECK(main.format == logs::Format::claude_code);
    CHECK(main.recording.id == "s-1");
    CHECK(main.version == "2.1.50");
    CHECK(main.folder == "/home/ann/shop");
    CHECK(roles_of(main) == "uauauauua");
    CHECK(replies_of(main) == std::vector<std::size_t>{1, 3, 5, 8});
    // Four records, the usage of the last one
    CHECK(main.recording.messages[1].json()["content"].size() == 4);
    CHECK(main.calls[0].id == "msg_1");
    CHECK(main.calls[0].model == "claude-sonnet-4-5");
    CHECK(usage_of(main) ==
          std::vector<Usage>{
              {12, 4'000, 9'000, 210}, {3, 13'000, 300, 40, 300}, {4, 13'300, 70, 55}, {5, 4'000, 800, 6}});
    // Both results are in the message behind the reply, though the second call was written behind the first result
    CHECK(main.recording.messages[2].json()["content"].size() == 2);
    CHECK(main.recording.messages[2].json()["content"][1]["tool_use_id"] == "toolu_2");
    CHECK(main.recording.seconds_since_first[8] == 245.0);
    CHECK(main.recording.usage_by_call.size() == 4);
}

TEST_CASE("what a person took back in Claude Code is billed and no message", "[logs]") {
    const Session main = read_fixture("claude_code.jsonl").sessions.at(0);
    CHECK(main.recording.messages[4].json()["content"] == "Fix it instead.");
    CHECK(main.calls_elsewhere == 1);
    CHECK(main.billed_elsewhere == Usage{4, 13'300, 60, 9});
    CHECK(billed(main) == Usage{28, 47'600, 10'230, 320, 300});
}

TEST_CASE("a compaction of Claude Code is a boundary behind which requests begin with its summary", "[logs]") {
    const Session main = read_fixture("claude_code.jsonl").sessions.at(0);
    REQUIRE(main.compactions.size() == 1);
    CHECK(main.compactions[0].before == 7);
    CHECK(main.compactions[0].trigger == "manual");
    CHECK(main.compactions[0].tokens_before == 13'500);
    CHECK(main.request_of(main.calls[2]).size() == 5);
    const auto request = main.request_of(main.calls[3]);
    REQUIRE(request.size() == 2);
    CHECK(request[0]["content"].get<std::string>().starts_with("This session is being continued."));
    CHECK(request[1]["content"] == "Now write a test.");
}

TEST_CASE("a sub-agent of Claude Code is a session of its own", "[logs]") {
    const Session agent = read_fixture("claude_code.jsonl").sessions.at(1);
    CHECK(agent.recording.id == "s-1/ag1");
    CHECK(agent.parent == "s-1");
    CHECK(roles_of(agent) == "ua");
    CHECK(billed(agent) == Usage{900, 0, 0, 7});
}

TEST_CASE("what Claude Code did not send is counted by its kind", "[logs]") {
    const ReadLog log = read_fixture("claude_code.jsonl");
    CHECK(log.notes.records == 23);
    CHECK(log.notes.damaged == 0);
    CHECK(log.notes.unknown.empty());
    CHECK(log.notes.newer.empty());
    CHECK(log.notes.versions == std::set<std::string>{"2.1.48", "2.1.50"});
    CHECK(log.notes.left_out == std::map<std::string, std::int64_t>{{"assistant, made by the agent", 1},
                                                                    {"file-history-snapshot", 1},
                                                                    {"progress/hook_progress", 1},
                                                                    {"system/turn_duration", 1}});
}

TEST_CASE("an odd log of Claude Code is read as far as it goes, and says what was wrong", "[logs]") {
    const ReadLog log = read_fixture("claude_code_odd.jsonl");
    REQUIRE(log.sessions.size() == 2);
    CHECK(roles_of(log.sessions[0]) == "uauua");  // the late result stands behind its call, the queued prompt behind it
    CHECK(log.sessions[0].recording.messages[2].json()["content"][0]["type"] == "tool_result");
    CHECK(log.sessions[0].recording.messages[3].json()["content"] == "and hurry");
    CHECK(usage_of(log.sessions[0])[0] == Usage{10, 0, 0, 0});
    CHECK(log.sessions[1].recording.id == "s-2#2");
    CHECK(log.notes.damaged == 5);
    std::vector<std::size_t> lines;
    for (const logs::DamagedLine& line : log.notes.damaged_lines) lines.push_back(line.line);
    CHECK(lines == std::vector<std::size_t>{8, 9, 11, 12, 13});
    CHECK(log.notes.damaged_lines[0].reason.find("assis") == std::string::npos);
    CHECK(log.notes.unknown == std::map<std::string, std::int64_t>{{"hologram", 1}});
    CHECK(log.notes.newer == std::set<std::string>{"3.0.1"});
    CHECK(log.notes.left_out ==
          std::map<std::string, std::int64_t>{{"attachment/todo_reminder", 1}, {"repeated record", 1}});
}

TEST_CASE("messages that a compaction kept come behind its summary", "[logs]") {
    const std::string start = R"({"isSidechain":false,"sessionId":"s","uuid":")";
    const auto line = [&](const std::string& id, const std::string& parent, const std::string& rest) {
        return start + id + R"(","parentUuid":)" + parent + "," + rest + "}\n";
    };
    const std::string text =
        line("u1", "null", R"("type":"user","message":{"role":"user","content":"one"})") +
        line("a1", R"("u1")", R"("type":"assistant","message":{"id":"m1","role":"assistant","content":"two"})") +
        line("b1", "null",
             R"("type":"compact_boundary","compactMetadata":{"trigger":"auto","preservedMessages":{"uuids":["a1"]}})") +
        line("b2", R"("b1")",
             R"("type":"user","isCompactSummary":true,"message":{"role":"user","content":"summary"})") +
        line("u2", R"("b2")", R"("type":"user","message":{"role":"user","content":"three"})") +
        line("a2", R"("u2")", R"("type":"assistant","message":{"id":"m2","role":"assistant","content":"four"})");
    const Session session = read_text_as(text, logs::Format::claude_code).sessions.at(0);
    const auto request = session.request_of(session.calls.at(1));
    REQUIRE(request.size() == 3);
    CHECK(request[0]["content"] == "summary");
    CHECK(request[1]["content"][0]["text"] == "two");
    CHECK(request[2]["content"] == "three");
}
