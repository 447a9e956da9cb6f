// The command line on Anthropic's messages.
#include "apps/cli.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <string>

using namespace whittle::testing;
using nlohmann::ordered_json;

namespace {

/// One session: a user message, rounds of two calls whose results are one message, an answer.
ordered_json anthropic_session(int rounds, int bytes) {
    ordered_json messages = ordered_json::array({{{"role", "user"}, {"content", "go"}}});
    for (int i = 0; i < rounds; ++i) {
        ordered_json calls = ordered_json::array();
        ordered_json results = ordered_json::array();
        for (const std::string name : {"a", "b"}) {
            const std::string id = "toolu_" + name + std::to_string(i);
            calls.push_back({{"type", "tool_use"}, {"id", id}, {"name", "read"}, {"input", {{"path", id}}}});
            results.push_back({{"type", "tool_result"},
                               {"tool_use_id", id},
                               {"content", id + std::string(static_cast<std::size_t>(bytes), '.')}});
        }
        messages.push_back({{"role", "assistant"}, {"content", calls}});
        messages.push_back({{"role", "user"}, {"content", results}});
    }
    messages.push_back({{"role", "assistant"}, {"content", {{{"type", "text"}, {"text", "done"}}}}});
    return {{"id", "talk"},
            {"model", "a-model"},
            {"system", {{{"type", "text"}, {"text", "be brief"}, {"cache_control", {{"type", "ephemeral"}}}}}},
            {"tools", {{{"name", "read"}, {"input_schema", {{"type", "object"}}}}}},
            {"messages", messages}};
}

const std::string memory_chain = R"({"storage": {"type": "memory"}, "middlewares": [
  {"type": "reduction", "skip_truncation": true, "max_tokens_for_clear": 3000}]})";

}  // namespace

TEST_CASE("apply cuts an Anthropic request and keeps the rest of it byte for byte", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", memory_chain);
    const ordered_json before = anthropic_session(4, 2'000);
    write_text(dir / "talk.json", before.dump());
    const CliResult result = run_cli(dir, "apply --config chain.json --in talk.json --out small.json --json");
    REQUIRE(result.err.empty());
    REQUIRE(result.exit_code == 0);
    const ordered_json after = ordered_json::parse(read_text(dir / "small.json"));
    for (const char* key : {"model", "system", "tools"}) CHECK(after[key].dump() == before[key].dump());
    REQUIRE(after["messages"].size() == before["messages"].size());
    for (const std::size_t same : {0U, 1U, 3U, 5U, 7U, 8U, 9U})
        CHECK(after["messages"][same].dump() == before["messages"][same].dump());
    const ordered_json& result_block = after["messages"][2]["content"][1];
    CHECK(result_block["tool_use_id"] == "toolu_b0");
    CHECK(result_block["content"].get<std::string>().starts_with("[Old read result cleared: 2008 bytes"));
    REQUIRE(run_cli(dir, "apply --config chain.json --in small.json --out again.json").exit_code == 0);
    CHECK(read_text(dir / "again.json") == read_text(dir / "small.json"));
    CHECK(run_cli(dir, "check small.json").out == "1 sessions checked for anthropic: no violation\n");
}

TEST_CASE("replay says that it does not take Anthropic sessions, instead of taking them for OpenAI's", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    write_text(dir / "s.jsonl", anthropic_session(1, 10).dump() + "\n");
    const CliResult result = run_cli(dir, "replay s.jsonl --config chain.json");
    CHECK(result.exit_code == 1);
    CHECK(result.err.find("s.jsonl: talk: expected OpenAI's messages, found Anthropic's") != std::string::npos);
}

TEST_CASE("check takes the rules of the session's provider, or those it is told", "[apps]") {
    const TempDir dir;
    write_text(dir / "a.json", anthropic_session(1, 10).dump());
    write_text(dir / "o.jsonl", session_line("o", 1, 10));
    CHECK(run_cli(dir, "check a.json o.jsonl").out == "2 sessions checked for anthropic, openai_chat: no violation\n");
    CHECK(run_cli(dir, "check a.json --profile gemini").out.find("checked for gemini") != std::string::npos);

    ordered_json broken = anthropic_session(1, 10);
    const ordered_json remark{{"type", "text"}, {"text", "first"}};
    broken["messages"][2]["content"].insert(broken["messages"][2]["content"].begin(), remark);
    broken["messages"][1]["content"][0]["input"] = ordered_json::array();
    write_text(dir / "broken.json", broken.dump());
    const CliResult text = run_cli(dir, "check broken.json");
    CHECK(text.exit_code == 1);
    CHECK(text.out.find("broken.json: talk: message 2 part 1: A3 (refused): ") != std::string::npos);
    CHECK(text.out.find("message 1 block 0: A8 (refused): ") != std::string::npos);
    const ordered_json shown = ordered_json::parse(run_cli(dir, "check broken.json --json").out);
    CHECK(shown["profile"] == "anthropic");
    CHECK(shown["violations"] == shown["violation_list"].size());
}

TEST_CASE("check --profile anthropic_thinking wants the open tool loop to start with thinking", "[apps]") {
    const TempDir dir;
    ordered_json session = anthropic_session(1, 10);
    session["messages"].erase(3);  // the loop is open
    write_text(dir / "s.json", session.dump());
    CHECK(run_cli(dir, "check s.json --profile anthropic").exit_code == 0);
    const CliResult result = run_cli(dir, "check s.json --profile anthropic_thinking");
    CHECK(result.exit_code == 1);
    CHECK(result.out.find("A7") != std::string::npos);
}

TEST_CASE("count counts the blocks of Anthropic messages", "[apps]") {
    const TempDir dir;
    write_text(dir / "a.json", anthropic_session(1, 100).dump());
    const CliResult result = run_cli(dir, "count a.json --counter chars --json");
    REQUIRE(result.exit_code == 0);
    const ordered_json session = ordered_json::parse(result.out)["files"][0]["sessions"][0];
    REQUIRE(session["messages"].size() == 4);
    CHECK(session["messages"][2]["tokens"] == (2 * (8 + 100)) / 4);
    CHECK(session["system_and_tools"] > 0);
}

TEST_CASE("a session with something of both shapes is refused with both reasons, unless told what it is", "[apps]") {
    const TempDir dir;
    ordered_json mixed = anthropic_session(1, 10);
    mixed["messages"].push_back({{"role", "tool"}, {"tool_call_id", "x"}, {"content", "y"}});
    write_text(dir / "mixed.json", mixed.dump());
    const CliResult refused = run_cli(dir, "check mixed.json");
    CHECK(refused.exit_code == 1);
    CHECK(refused.err.find("mixed.json: talk: expected messages of one provider, found OpenAI's (messages[4] has the "
                           "role \"tool\") and Anthropic's (messages[1] has a block of type \"tool_use\")") !=
          std::string::npos);
    CHECK(run_cli(dir, "check mixed.json --shape openai").out.find("checked for openai_chat") != std::string::npos);
    const CliResult forced = run_cli(dir, "check mixed.json --shape anthropic");
    CHECK(forced.exit_code == 1);
    CHECK(forced.err.find("messages[4]") != std::string::npos);
    CHECK(run_cli(dir, "check mixed.json --shape claude").exit_code == 2);
}

TEST_CASE("text alone reads the same either way and is taken for OpenAI's", "[apps]") {
    const TempDir dir;
    write_text(dir / "t.json", R"([{"role":"user","content":[{"type":"text","text":"go"}]}])");
    CHECK(run_cli(dir, "check t.json").out.find("checked for openai_chat") != std::string::npos);
    CHECK(run_cli(dir, "check t.json --shape anthropic").out.find("checked for anthropic") != std::string::npos);
}
