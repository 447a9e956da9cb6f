#include "log_file.hpp"
#include "support/catch.hpp"

#include <map>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using logs::Session;

namespace {

using Kinds = std::map<std::string, std::int64_t>;

std::string codex_said(const std::string& role, const std::string& text) {
    return R"({"type":"response_item","payload":{"type":"message","role":")" + role +
           R"(","content":[{"type":"input_text","text":")" + text + "\"}]}}\n";
}

std::string codex_item(const std::string& payload) { return R"({"type":"response_item","payload":)" + payload + "}\n"; }

std::string codex_rolled_back(int turns) {
    return R"({"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":)" + std::to_string(turns) +
           "}}\n";
}

ReadLog read_rollout(const std::string& lines) {
    return read_text_as(R"({"type":"session_meta","payload":{"id":"c"}})"
                        "\n" +
                            lines,
                        logs::Format::codex);
}

const std::string environment = R"(<environment_context>\n<cwd>/w</cwd>\n</environment_context>)";

}  // namespace

TEST_CASE("a turn that was taken back goes with its prompt, not with what Codex said as the user", "[logs]") {
    const ReadLog log = read_rollout(
        codex_said("user", environment) + codex_said("user", "first") + codex_said("assistant", "one") +
        codex_said("user", "second") + codex_item(R"({"type":"function_call","name":"f","call_id":"c1"})") +
        codex_item(R"({"type":"function_call_output","call_id":"c1","output":"aborted"})") +
        codex_said("user", R"(<turn_aborted>\nOn purpose.\n</turn_aborted>)") + codex_rolled_back(1) +
        codex_said("user", "third"));
    const Session& session = log.sessions.at(0);
    CHECK(roles_of(session) == "uuau");
    CHECK(session.recording.messages[3].json()["content"] == "third");
    CHECK(session.calls_elsewhere == 1);
}

TEST_CASE("context in front of a turn is taken back with it, that in front of the first turn stays", "[logs]") {
    const std::string turns = codex_said("developer", "Be kind.") + codex_said("user", environment) +
                              codex_said("user", "first") + codex_said("assistant", "one") +
                              codex_said("developer", "<collaboration_mode>plan</collaboration_mode>") +
                              codex_said("user", "  <ENVIRONMENT_CONTEXT>x</environment_context>\\n") +
                              codex_said("user", "second") + codex_said("assistant", "two");
    CHECK(roles_of(read_rollout(turns + codex_rolled_back(1)).sessions.at(0)) == "duua");
    CHECK(roles_of(read_rollout(turns + codex_rolled_back(2)).sessions.at(0)) == "du");
    CHECK(roles_of(read_rollout(turns + codex_rolled_back(9)).sessions.at(0)) == "du");
    CHECK(roles_of(read_rollout(turns + codex_rolled_back(0)).sessions.at(0)) == "duuaduua");
    const ReadLog twice = read_rollout(turns + codex_rolled_back(1) + codex_said("user", "third") +
                                       codex_rolled_back(1) + codex_rolled_back(1));
    CHECK(roles_of(twice.sessions.at(0)) == "du");
}

TEST_CASE("what Codex says as the user is known by how it begins and ends", "[logs]") {
    const auto is_prompt = [](const std::string& text) {
        const ReadLog log = read_rollout(codex_said("developer", "Be kind.") + codex_said("user", "one") +
                                         codex_said("user", text) + codex_rolled_back(1));
        return roles_of(log.sessions.at(0)) == "du";
    };
    for (const char* context :
         {"# AGENTS.md instructions for /w\\n\\n<INSTRUCTIONS>\\nx\\n</INSTRUCTIONS>", "<skill>\\nx\\n</skill>",
          "<user_shell_command>ls</user_shell_command>", "<subagent_notification>{}</subagent_notification>",
          "<hook_prompt hook_run_id=\\\"h\\\">x</hook_prompt>", "<external_editor open=\\\"1\\\">x</external_editor>",
          "Warning: apply_patch was requested via x. "
          "Use the apply_patch tool instead of exec_command."})
        CHECK_FALSE(is_prompt(context));
    for (const char* prompt : {"<skill>", "<external_a>x</external_b>", "<skill>x</skill> and more", "# AGENTS.md"})
        CHECK(is_prompt(prompt));
}

TEST_CASE("a search for tools gives their definitions, and tools are named with their namespace", "[logs]") {
    const ReadLog log = read_rollout(
        codex_said("user", "go") +
        codex_item(R"({"type":"tool_search_call","call_id":"t","execution":"client","arguments":{"query":"mail"}})") +
        codex_item(R"({"type":"tool_search_output","call_id":"t","execution":"client","tools":[{"name":"mail"}]})") +
        codex_item(R"({"type":"function_call","name":"send","namespace":"mcp__mail","call_id":"c1"})") +
        codex_item(R"({"type":"function_call","name":"ls","namespace":"functions","call_id":"c2"})"));
    const Session& session = log.sessions.at(0);
    CHECK(roles_of(session) == "uata");
    CHECK(session.recording.messages[2].json()["content"] == R"([{"name":"mail"}])");
    CHECK(session.recording.messages[3].json()["tool_calls"][0]["function"]["name"] == "mcp__mail__send");
    CHECK(session.recording.messages[3].json()["tool_calls"][1]["function"]["name"] == "ls");
    CHECK(log.notes.unknown.empty());
}

TEST_CASE("a search that the server ran is no call of the agent", "[logs]") {
    const ReadLog log = read_rollout(
        codex_said("user", "go") + codex_item(R"({"type":"reasoning","summary":[]})") +
        codex_item(R"({"type":"tool_search_call","call_id":null,"execution":"server","arguments":{"paths":["a"]}})") +
        codex_item(R"({"type":"tool_search_output","call_id":null,"execution":"server","tools":[]})") +
        codex_item(R"({"type":"function_call","name":"f","call_id":"c1"})"));
    CHECK(roles_of(log.sessions.at(0)) == "ua");
    CHECK(log.sessions[0].recording.messages[1].json()["tool_calls"].size() == 1);
    CHECK(log.notes.left_out == Kinds{{"reasoning", 1}, {"tool_search_call", 1}, {"tool_search_output", 1}});
}

TEST_CASE("a result that nobody asked for and what other agents say are input", "[logs]") {
    const ReadLog log = read_rollout(
        codex_said("user", "go") + codex_said("assistant", "one") +
        codex_item(R"({"type":"function_call_output","id":"fco_1","call_id":null,"output":"tick"})") +
        codex_said("assistant", "two") +
        codex_item(R"({"type":"agent_message","author":"/a","content":[{"type":"input_text","text":"found"}]})") +
        codex_said("assistant", "three") +
        R"({"type":"inter_agent_communication","payload":{"author":"/a","content":"done","trigger_turn":true}})"
        "\n");
    const Session& session = log.sessions.at(0);
    CHECK(roles_of(session) == "uauauau");
    CHECK(session.recording.messages[2].json()["content"] == "tick");
    CHECK(session.recording.messages[4].json()["content"] == "found");
    CHECK(session.recording.messages[6].json()["content"] == "done");
    CHECK(log.notes.unknown.empty());
}

TEST_CASE("thinking in front of a late result begins no reply", "[logs]") {
    const ReadLog log = read_rollout(
        codex_said("user", "go") + codex_item(R"({"type":"function_call","name":"f","call_id":"c1"})") +
        R"({"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":)"
        R"({"input_tokens":9,"output_tokens":1}}}})"
        "\n" +
        codex_item(R"({"type":"reasoning","summary":[]})") +
        codex_item(R"({"type":"function_call_output","call_id":"c1","output":"x"})") + codex_said("assistant", "done"));
    CHECK(roles_of(log.sessions.at(0)) == "uata");
}

TEST_CASE("kinds of records and events of Codex that are not known are named", "[logs]") {
    const ReadLog log = read_rollout(codex_said("user", "go") +
                                     R"({"type":"event_msg","payload":{"type":"user_message"}}
{"type":"event_msg","payload":{"type":"quantum_event"}}
{"type":"world_state","payload":{"full":true}}
{"type":"quantum_state","payload":{}}
{"type":"response_item","metadata":{"delivered_assistant_message":"codex:code-mode-delivery:v1:complete"},"payload":{"type":"message","role":"assistant","content":"sent"}}
)");
    CHECK(log.notes.unknown == Kinds{{"event_msg/quantum_event", 1}, {"quantum_state", 1}});
    CHECK(log.notes.left_out == Kinds{{"event_msg/user_message", 1}, {"retained_context", 1}, {"world_state", 1}});
    CHECK(roles_of(log.sessions.at(0)) == "u");
}

TEST_CASE("what Codex 0.171 writes beside the conversation is known", "[logs]") {
    std::string lines = codex_said("user", "go");
    for (const char* event :
         {"auth_recovery_started", "auth_recovery_completed", "elicitation_abandoned", "environment_connected",
          "environment_disconnected", "raw_response_completed", "thread_queue_changed"})
        lines += std::string(R"({"type":"event_msg","payload":{"type":")") + event + "\"}}\n";
    lines += R"({"type":"dynamic_tools_updated","payload":{"dynamic_tools":[]}})"
             "\n" +
             codex_item(R"({"type":"additional_tools","role":"developer","tools":[]})");
    const ReadLog log = read_text_as(R"({"type":"session_meta","payload":{"id":"c","cli_version":"0.171.0"}})"
                                     "\n" +
                                         lines,
                                     logs::Format::codex);
    CHECK(log.notes.unknown.empty());
    CHECK(log.notes.newer.empty());
    CHECK(log.notes.left_out.size() == 9);
    CHECK(roles_of(log.sessions.at(0)) == "u");
}

TEST_CASE("a rollout tells its parent, and whether its beginning is in another file", "[logs]") {
    const ReadLog log = read_text_as(
        R"({"type":"session_meta","payload":{"id":"c","parent_thread_id":"p","source":{"subagent":"review"},"history_base":{"thread_id":"b"}}}
{"type":"session_meta","payload":{"id":"b","history_base":{"thread_id":"a"}}}
)" + codex_said("user", "go"),
        logs::Format::codex);
    CHECK(log.sessions.at(0).parent == "p");
    CHECK(log.notes.unknown == Kinds{{"history_base that another file holds", 1}});
}
