// Steps of sub-agents that Claude Code wrote as records of progress.
#include "claude_lines.hpp"
#include "support/catch.hpp"

#include <map>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using logs::Session;

namespace {

/// A record of progress around a step of an agent, which has these members.
std::string agent_step(const std::string& id, const std::string& parent, const std::string& agent,
                       const std::string& step) {
    return claude_record(id, parent,
                         R"("type":"progress","toolUseID":"agent_msg_1","parentToolUseID":"t1","data":{"message":{)" +
                             step + R"(,"uuid":"in-)" + id + R"("},"normalizedMessages":[],"type":"agent_progress",)" +
                             (agent.empty() ? "" : R"("agentId":")" + agent + R"(",)") + R"("prompt":"count"})");
}

std::string said_by_agent(const std::string& message, const std::string& blocks, int input, int output) {
    return R"("type":"assistant","requestId":"r-)" + message + R"(","message":{"id":")" + message +
           R"(","model":"small","role":"assistant","content":[)" + blocks + R"(],"usage":{"input_tokens":)" +
           std::to_string(input) + R"(,"output_tokens":)" + std::to_string(output) + "}}";
}

std::string asked_of_agent(const std::string& text) {
    return R"("type":"user","message":{"role":"user","content":[{"type":"text","text":")" + text + R"("}]})";
}

const std::string result_of_agent =
    R"("type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"s1","content":"3"}]})";

}  // namespace

TEST_CASE("steps of a sub-agent that stand in records of progress are its session", "[logs]") {
    const ReadLog log =
        read_claude(claude_prompt("u1", "", "go") + claude_reply("a1", "u1", "m1", claude_call("t1")) +
                    agent_step("p1", "a1", "ag", asked_of_agent("count")) +
                    agent_step("p2", "p1", "ag", said_by_agent("m2", claude_call("s1"), 5, 4)) +
                    agent_step("p3", "p2", "ag", result_of_agent) +
                    agent_step("p4", "p3", "ag", said_by_agent("m3", claude_text("Three."), 6, 3)) +
                    claude_result("r1", "p4", "t1") +
                    claude_reply("a2", "r1", "m4", claude_text("Done."), R"("input_tokens":20,"output_tokens":1)", ""));
    REQUIRE(log.sessions.size() == 2);
    const Session& main = log.sessions[0];
    CHECK(roles_of(main) == "uaua");
    CHECK(usage_of(main) == std::vector<Usage>{{10, 0, 0, 5}, {20, 0, 0, 1}});
    CHECK(request_text(main, 1) == "go\ncall t1\nresult t1\n");
    const Session& agent = log.sessions[1];
    CHECK(agent.recording.id == "s/ag");
    CHECK(agent.parent == "s");
    CHECK(agent.version == "2.1.100");
    CHECK(usage_of(agent) == std::vector<Usage>{{5, 0, 0, 4}, {6, 0, 0, 3}});
    CHECK(agent.calls.at(1).id == "m3");
    CHECK(agent.calls.at(1).model == "small");
    CHECK(request_text(agent, 1) == "count\ncall s1\nresult s1\n");
    CHECK(log.notes.left_out.empty());
    CHECK(log.notes.unknown.empty());
}

TEST_CASE("steps of sub-agents side by side, and of one without an id, are told apart", "[logs]") {
    const ReadLog log = read_claude(claude_prompt("u1", "", "go") + agent_step("p1", "u1", "x", asked_of_agent("one")) +
                                    agent_step("p2", "u1", "", asked_of_agent("two")) +
                                    agent_step("p3", "p1", "x", said_by_agent("m1", claude_text("1"), 5, 4)) +
                                    agent_step("p4", "p2", "", said_by_agent("m2", claude_text("2"), 6, 4)) +
                                    agent_step("p5", "p4", "", said_by_agent("m2", claude_text("2"), 6, 4)));
    REQUIRE(log.sessions.size() == 3);
    CHECK(log.sessions[1].recording.id == "s/x");
    CHECK(request_text(log.sessions[1], 0) == "one\n");
    CHECK(log.sessions[2].recording.id == "s/t1");  // the call that started it
    CHECK(request_text(log.sessions[2], 0) == "two\n");
    CHECK(usage_of(log.sessions[2]) == std::vector<Usage>{{6, 0, 0, 4}});
}

TEST_CASE("other progress of Claude Code is left out by its kind", "[logs]") {
    const ReadLog log = read_claude(
        claude_prompt("u1", "", "go") +
        claude_record("p1", "u1", R"("type":"progress","data":{"type":"bash_progress"})") +
        claude_record("p2", "p1", R"("type":"progress","data":{"type":"agent_progress","message":{"type":"user"}})") +
        claude_record("p3", "p2", R"("type":"progress")") + claude_reply("a1", "p3", "m1", claude_text("Done.")));
    REQUIRE(log.sessions.size() == 1);
    CHECK(roles_of(log.sessions[0]) == "ua");
    CHECK(log.notes.left_out == std::map<std::string, std::int64_t>{
                                    {"progress", 1}, {"progress/agent_progress", 1}, {"progress/bash_progress", 1}});
}
