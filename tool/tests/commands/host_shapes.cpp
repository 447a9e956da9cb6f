// Recordings of hosts that write tool messages each in its own way go through the program with truncation on.
#include "cli.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle::testing;
using nlohmann::ordered_json;

namespace {

const std::string truncating_chain = R"({"storage": {"type": "memory"}, "middlewares": [
  {"type": "reduction", "max_length_for_trunc": 1000, "max_tokens_for_clear": 1000000}]})";

/// LONG stands for a text that is truncated.
std::string with_long_text(std::string message) {
    const std::string text = "first " + std::string(5'000, 'x') + " last";
    for (std::size_t at = message.find("LONG"); at != message.npos; at = message.find("LONG", at + text.size()))
        message.replace(at, 4, text);
    return message;
}

/// A session whose call "a" is answered by `result`.
std::string openai_session(std::string_view id, const std::string& result) {
    return R"({"id":")" + std::string(id) +
           R"(","messages":[{"content":"go","role":"user"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]},)" +
           with_long_text(result) + R"(,{"role":"assistant","content":"done"}]})" + "\n";
}

std::string anthropic_session(std::string_view id, const std::string& result) {
    return R"({"id":")" + std::string(id) +
           R"(","messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{}}]},)" +
           with_long_text(result) + R"(,{"role":"assistant","content":"done"}]})" + "\n";
}

const std::vector<std::string> openai_results{
    R"({"role":"tool","tool_call_id":"a","content":"LONG"})",
    R"({"content":"LONG","tool_call_id":"a","role":"tool"})",
    R"({"tool_call_id":"a","content":"LONG","role":"tool"})",
    R"({"role":"tool","name":"read","tool_call_id":"a","content":"LONG"})",
    R"({"name":"read","content":"LONG","role":"tool","tool_call_id":"a"})",
    R"({"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"LONG"}]})",
    R"({"role":"tool","tool_call_id":"a","content":[{"text":"LONG","type":"text"},{"type":"text","text":"short"},{"type":"text","text":"LONG"}]})",
    R"({"role":"tool","tool_call_id":"a","content":"LONG","vendor":{"z":1,"a":[2.50,null]},"id":null})",
    R"({"cache_control":{"type":"ephemeral"},"role":"tool","tool_call_id":"a","content":"LONG"})",
    R"({"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"LONG","cache_control":{"type":"ephemeral"}}]})",
};

const std::vector<std::string> anthropic_results{
    R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"LONG"}]})",
    R"({"content":[{"content":"LONG","tool_use_id":"a","type":"tool_result"}],"role":"user"})",
    R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"LONG","is_error":false}]})",
    R"({"role":"user","content":[{"is_error":true,"type":"tool_result","tool_use_id":"a","content":"LONG"}]})",
    R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"LONG"}]}]})",
    R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"text":"LONG","type":"text"},{"type":"text","text":"short"},{"type":"text","text":"LONG"}]}]})",
    R"({"role":"user","content":[{"tool_use_id":"a","type":"tool_result","content":"LONG","cache_control":{"type":"ephemeral","ttl":"1h"}}]})",
    R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"LONG","cache_control":{"type":"ephemeral"}}]}]})",
    R"({"role":"user","uuid":"7","content":[{"type":"tool_result","tool_use_id":"a","content":"LONG","x":[1.0]}],"at":null})",
    R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"LONG"},{"type":"text","text":"<reminder>be brief</reminder>"}]})",
};

/// The members of a value, each with its place, in their order; texts aside.
std::vector<std::string> members_of(const ordered_json& value) {
    const ordered_json flat = value.flatten();
    std::vector<std::string> members;
    for (const auto& [path, leaf] : flat.items()) members.push_back(path + (leaf.is_string() ? "" : " " + leaf.dump()));
    return members;
}

/// Replays `sessions`, each with its tool message at index 2.
void check_replay(const std::vector<std::string>& sessions) {
    const TempDir dir;
    write_text(dir / "chain.json", truncating_chain);
    std::string all;
    for (const std::string& session : sessions) all += session;
    write_text(dir / "s.jsonl", all);
    const CliResult result = run_cli(dir, "replay s.jsonl --config chain.json --requests sent.jsonl --json");
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    const ordered_json report = ordered_json::parse(result.out);
    CHECK(report["total"]["not_undone"] == 0);
    CHECK(report["total"]["violations"] == 0);
    REQUIRE(report["trajectories"].size() == sessions.size());
    std::istringstream lines(read_text(dir / "sent.jsonl"));
    for (std::size_t i = 0; i < sessions.size(); ++i) {
        CAPTURE(sessions[i].substr(0, 300));
        const ordered_json& figures = report["trajectories"][i];
        CHECK(figures["not_undone"] == 0);
        CHECK(figures["changed_bytes"] > 5'000);
        CHECK(figures["restored_bytes"] == figures["changed_bytes"]);
        std::string line;
        for (int call = 0; call < 2; ++call) REQUIRE(std::getline(lines, line));
        const ordered_json sent = ordered_json::parse(line)["messages"][2];
        const ordered_json recorded = ordered_json::parse(sessions[i])["messages"][2];
        CHECK(sent.dump().size() < recorded.dump().size() - 3'000);
        CHECK(members_of(sent) == members_of(recorded));
    }
}

}  // namespace

TEST_CASE("replay truncates results in every shape of OpenAI's tool messages and gives them back", "[apps]") {
    std::vector<std::string> sessions;
    for (const std::string& result : openai_results)
        sessions.push_back(openai_session("openai-" + std::to_string(sessions.size()), result));
    check_replay(sessions);
}

TEST_CASE("replay truncates results in every shape of Anthropic's messages and gives them back", "[apps]") {
    std::vector<std::string> sessions;
    for (const std::string& result : anthropic_results)
        sessions.push_back(anthropic_session("anthropic-" + std::to_string(sessions.size()), result));
    check_replay(sessions);
}
