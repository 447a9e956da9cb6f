// The command line on Anthropic's messages.
#include "cli.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <sstream>
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
    CHECK(run_cli(dir, "check small.json").out == "1 session checked for anthropic: no violation\n");
}

TEST_CASE("replay gives an Anthropic session the same figures as an OpenAI one, and breaks no rule", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    write_text(dir / "s.jsonl", anthropic_session(6, 2'000).dump() + "\n" + session_line("o", 6, 4'000));
    const CliResult result = run_cli(dir, "replay s.jsonl --config chain.json --json");
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    const ordered_json shown = ordered_json::parse(result.out);
    REQUIRE(shown["trajectories"].size() == 2);
    const ordered_json& theirs = shown["trajectories"][0];
    const ordered_json& ours = shown["trajectories"][1];
    for (const auto& [key, value] : ours.items()) {
        CAPTURE(key);
        CHECK(theirs.contains(key));
    }
    CHECK(theirs.size() == ours.size());
    CHECK(theirs["calls"] == 7);
    CHECK(theirs["sent"]["input_tokens"] < theirs["raw"]["input_tokens"]);
    CHECK(theirs["edits"]["clear"] > 0);
    CHECK(theirs["violations"] == 0);
    CHECK(theirs["restorable"] == 1.0);
    CHECK(theirs["not_undone"] == 0);
    CHECK(shown["total"]["calls"] == 14);
    const std::string text = run_cli(dir, "replay s.jsonl --config chain.json").out;
    CHECK(text.find("message rules (anthropic, openai_chat) that a request breaks and the recording keeps: 0") !=
          std::string::npos);
}

TEST_CASE("the requests of an Anthropic replay are its own messages, valid for its provider", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    write_text(dir / "s.jsonl", anthropic_session(6, 2'000).dump() + "\n");
    REQUIRE(run_cli(dir, "replay s.jsonl --config chain.json --requests out.jsonl").exit_code == 0);
    std::istringstream lines(read_text(dir / "out.jsonl"));
    ordered_json request;
    for (std::string line; std::getline(lines, line);) request = ordered_json::parse(line);
    CHECK(request["call"] == 6);
    REQUIRE(request["messages"].size() == 13);
    const ordered_json& cut = request["messages"][2]["content"][1];
    CHECK(cut["tool_use_id"] == "toolu_b0");
    CHECK(cut["content"].get<std::string>().starts_with("[Old read result cleared"));
    write_text(dir / "request.json", request["messages"].dump());
    CHECK(run_cli(dir, "check request.json").out == "1 session checked for anthropic: no violation\n");
}

TEST_CASE("the calls of a summarizer in an Anthropic replay are counted and shown", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", R"({
      "models": {"m": {"type": "scripted", "replies": ["<summary>THE GIST</summary>"]}},
      "middlewares": [{"type": "summarization", "model": "m", "trigger": {"context_tokens": 4000},
                       "keep_recent_tokens": 1500}]})");
    write_text(dir / "s.jsonl", anthropic_session(10, 2'000).dump() + "\n");
    const CliResult result = run_cli(dir, "replay s.jsonl --config chain.json --json --requests r.jsonl");
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    const ordered_json total = ordered_json::parse(result.out)["total"];
    CHECK(total["side_calls"]["calls"] > 0);
    CHECK(total["violations"] == 0);
    CHECK(read_text(dir / "r.jsonl").find(R"("reply":"<summary>THE GIST</summary>")") != std::string::npos);
}

TEST_CASE("replay takes a session with something of both shapes once it is told what it is", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    ordered_json mixed = ordered_json::parse(session_line("m", 1, 10));
    const ordered_json block{{"type", "tool_use"}, {"id", "x"}, {"name", "read"}, {"input", ordered_json::object()}};
    mixed["messages"].back()["content"] = ordered_json::array({block});
    write_text(dir / "mixed.json", mixed.dump());
    const CliResult refused = run_cli(dir, "replay mixed.json --config chain.json");
    CHECK(refused.exit_code == 1);
    CHECK(refused.err.find("say with --shape which to take them for") != std::string::npos);
    CHECK(run_cli(dir, "replay mixed.json --config chain.json --shape openai").exit_code == 0);
    CHECK(run_cli(dir, "replay mixed.json --config chain.json --shape claude").exit_code == 2);
}

TEST_CASE("replay reads its chain once, so that it may come through a pipe", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    write_text(dir / "s.jsonl", session_line("o", 1, 10));
    CHECK(run_cli(dir, "replay s.jsonl --config - < chain.json").exit_code == 0);
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
