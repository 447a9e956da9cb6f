#include "cli.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>

using namespace whittle::testing;
using nlohmann::ordered_json;

namespace {

/// A user's question, then results that are longer than what comes back of them.
const std::string explained_folding = R"({"storage": {"type": "memory"},
  "models": {"writer": {"type": "scripted", "replies": ["Six files were read."]}},
  "middlewares": [{"type": "summarization", "model": "writer", "trigger": {"context_tokens": 3000}, "keep_recent_tokens": 1200}]})";

const ordered_json* message_at(const ordered_json& explanation, std::size_t recorded) {
    for (const ordered_json& message : explanation["messages"]) {
        if (message["recorded"] == recorded) return &message;
    }
    return nullptr;
}

}  // namespace

TEST_CASE("explain says of each message of a request what became of it, why, by whom and where it is", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    write_text(dir / "s.jsonl", session_line("a", 3, 4'000));
    const CliResult result = run_cli(dir, "explain s.jsonl --config chain.json --call 3");
    REQUIRE(result.exit_code == 0);
    CHECK(result.err.empty());
    CHECK(result.out == R"(a: call 3 (the first is 0)
1,041 tokens sent for 3,005 recorded, 2 of them system text and tools (counted by chars/4)
before_model reduction: committed (3,005 tokens, limit 3,000)

edits, and the calls from which on they stand:
  call 3 by reduction: clear, 2 messages (3,005 tokens, limit 3,000)

messages, by index in the recording, with tokens as recorded -> as sent:
    0 kept     user, 0
    1 kept     assistant, 1
    2 cleared  tool read, 1,000 -> 18
      by reduction from call 3 on: clear, rule old_round
      now: [Old read result cleared: 4000 bytes, 1 lines. Full text: store/a/clear/c0]
      original in the store: a/clear/c0
    3 kept     assistant, 1
    4 cleared  tool read, 1,000 -> 18
      by reduction from call 3 on: clear, rule old_round
      now: [Old read result cleared: 4000 bytes, 1 lines. Full text: store/a/clear/c1]
      original in the store: a/clear/c1
    5 kept     assistant, 1
    6 kept     tool read, 1,000
      reduction keeps it: retained_round

what these words mean:
  clear: an old tool result, replaced by a placeholder
  cleared: replaced by a short placeholder
  kept: as it was recorded
  old_round: in tool rounds older than those that are kept
  retained_round: in the newest tool rounds, which are kept
)");
    CHECK(files_in(dir) == std::vector<std::string>{"chain.json", "s.jsonl"});  // the store of the chain was not made
}

TEST_CASE("explain --json has the same, and its tokens are those that replay counts", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    write_text(dir / "s.jsonl", session_line("other", 1, 10) + session_line("a", 6, 4'000));
    REQUIRE(run_cli(dir, "replay s.jsonl --config chain.json --requests out.jsonl").exit_code == 0);
    std::istringstream requests(read_text(dir / "out.jsonl"));
    for (std::string line; std::getline(requests, line);) {
        const ordered_json request = ordered_json::parse(line);
        if (request["trajectory"] != "a") continue;
        const std::string call = request["call"].dump();
        CAPTURE(call);
        const CliResult result = run_cli(dir, "explain s.jsonl --session a --config chain.json --json --call " + call);
        REQUIRE(result.exit_code == 0);
        const ordered_json shown = ordered_json::parse(result.out);
        CHECK(shown["tokens_sent"] == request["tokens"]);
        CHECK(shown["tokens_recorded"] == request["tokens_raw"]);
        std::int64_t sent = shown["system_and_tools"];
        for (const ordered_json& message : shown["messages"]) {
            sent += message["tokens_sent"].get<std::int64_t>();
            const ordered_json& now = request["messages"].at(message["sent"].get<std::size_t>());
            CHECK(now["role"] == message["role"]);
            if (message["state"] != "kept") CHECK(now["content"] == message["text"]);
        }
        CHECK(sent == shown["tokens_sent"]);
    }
    const ordered_json last =
        ordered_json::parse(run_cli(dir, "explain s.jsonl --session a --config chain.json --json").out);
    CHECK(last["call"] == 6);
    const ordered_json* second = message_at(last, 4);
    REQUIRE(second != nullptr);
    CHECK((*second)["state"] == "cleared");
    CHECK((*second)["edits"] == ordered_json::parse(R"([{"call": 3, "by": "reduction", "reason": "clear",
      "rule": "old_round", "count": 3005, "threshold": 3000}])"));
    CHECK((*second)["stored"] == ordered_json::array({"a/clear/c1"}));
    CHECK((*second)["original"] == "store");
}

TEST_CASE("explain shows which messages were folded, and what was added in their place", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", explained_folding);
    write_text(dir / "s.jsonl", session_line("a", 5, 4'000));
    const CliResult result = run_cli(dir, "explain s.jsonl --config chain.json --json");
    REQUIRE(result.exit_code == 0);
    const ordered_json shown = ordered_json::parse(result.out);
    std::size_t folded = 0;
    std::optional<std::size_t> summary;
    for (const ordered_json& message : shown["messages"]) {
        if (message["state"] == "added" &&
            message["text"].get<std::string>().find("Six files were read.") != std::string::npos)
            summary = message["sent"].get<std::size_t>();
    }
    REQUIRE(summary);
    for (const ordered_json& message : shown["messages"]) {
        if (message["state"] != "folded") continue;
        ++folded;
        CHECK(message["folded_into"] == *summary);
        CHECK(message["sent"].is_null());
        CHECK(message["original"] == "journal");
        REQUIRE(message["edits"].size() == 1);
        CHECK(message["edits"][0]["by"] == "summarization");
        CHECK(message["edits"][0]["reason"] == "summary");
    }
    CHECK(folded >= 4);
    const CliResult text = run_cli(dir, "explain s.jsonl --config chain.json");
    CHECK(has(text.out, " folded "));
    CHECK(has(text.out, "into message " + std::to_string(*summary) + " of the request"));
}

TEST_CASE("explain names the middleware that shortened a result when it came", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", R"({"storage": {"type": "memory"}, "middlewares": [
      {"type": "reduction", "name": "short", "max_length_for_trunc": 1000}]})");
    write_text(dir / "s.jsonl", session_line("a", 2, 4'000));
    const ordered_json shown = ordered_json::parse(run_cli(dir, "explain s.jsonl --config chain.json --json").out);
    const ordered_json* first = message_at(shown, 2);
    REQUIRE(first != nullptr);
    CHECK((*first)["state"] == "cut");
    CHECK((*first)["edits"][0]["by"] == "short");
    CHECK((*first)["edits"][0]["call"] == 1);
    CHECK((*first)["tokens_sent"] < (*first)["tokens_recorded"]);
}

TEST_CASE("what explain cannot find it names", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", memory_chain);
    write_text(dir / "s.jsonl", session_line("a", 1, 10));
    write_text(dir / "quiet.jsonl", R"({"id":"q","messages":[{"role":"user","content":"x"}]})");
    const CliResult call = run_cli(dir, "explain s.jsonl --config chain.json --call 2");
    CHECK(call.exit_code == 2);
    CHECK(call.err == "whittle: --call 2: session \"a\" has calls 0 to 1\n");
    const CliResult session = run_cli(dir, "explain s.jsonl --config chain.json --session b");
    CHECK(session.exit_code == 1);
    CHECK(session.err == "whittle: s.jsonl: no session has the id \"b\"\n");
    const CliResult quiet = run_cli(dir, "explain quiet.jsonl --config chain.json");
    CHECK(quiet.exit_code == 1);
    CHECK(quiet.err == "whittle: q: the session has no model call\n");
}

TEST_CASE("explain keeps to the width of a terminal, and to what a terminal may be sent", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    write_text(dir / "s.jsonl", session_line("\xE6\xBC\xA2\xE5\xAD\x97", 4, 4'000));
    setenv("COLUMNS", "60", 1);
    const CliResult narrow = run_cli(dir, "explain s.jsonl --config chain.json");
    unsetenv("COLUMNS");
    REQUIRE(narrow.exit_code == 0);
    std::istringstream in(narrow.out);
    std::size_t at = 0;
    for (std::string line; std::getline(in, line); ++at) {
        CAPTURE(line);
        const auto wide = std::ranges::count_if(line, [](char c) { return c == '\xE6' || c == '\xE5'; });
        if (at > 2) CHECK(static_cast<std::ptrdiff_t>(line.size()) - wide <= 60);  // 3 bytes, 2 columns
    }
    CHECK(narrow.out.starts_with("\xE6\xBC\xA2\xE5\xAD\x97: call 4 (the first is 0)\n"));
    CHECK(narrow.out.find('\x1b') == std::string::npos);
}

TEST_CASE("explain shows lines as lines, a few of them, and tabs as blanks", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", R"({"storage": {"type": "memory"}, "middlewares": [
      {"type": "reduction", "max_length_for_trunc": 1000}]})");
    std::string content;
    for (int i = 0; i < 200; ++i) content += "line " + std::to_string(i) + R"(\tend\r\n)";
    std::string session = session_line("a", 1, 10);
    session.replace(session.find("aaaaaaaaaa"), 10, content);
    write_text(dir / "s.jsonl", session);
    const CliResult result = run_cli(dir, "explain s.jsonl --config chain.json");
    REQUIRE(result.exit_code == 0);
    CAPTURE(result.out);
    CHECK(has(result.out, "      now: line 0    end\n           line 1    end\n           line 2    end\n"));
    CHECK(has(result.out, "           line 5    end\n           ... "));
    CHECK(has(result.out, " more lines\n"));
    CHECK_FALSE(has(result.out, "line 6 "));
    CHECK_FALSE(has(result.out, "\\u00"));
}

TEST_CASE("explain says why nothing is cut above a limit", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl", session_line("a", 30, 4'000));
    const CliResult below = run_cli(dir, "explain s.jsonl --preset recommended --call 15");
    REQUIRE(below.exit_code == 0);
    CHECK(has(below.out, "before_model trimming: not due: not above its limit (15,0"));
    const CliResult above = run_cli(dir, "explain s.jsonl --preset recommended --call 22 --json");
    const ordered_json shown = ordered_json::parse(above.out);
    const ordered_json& trimming = shown["stages"][0];
    CHECK(trimming["outcome"] == "not_due");
    CHECK(trimming["count"] > trimming["threshold"]);
    CHECK_FALSE(trimming["reason"].get<std::string>().empty());
    CHECK(has(run_cli(dir, "explain s.jsonl --preset recommended --call 22").out,
              "before_model trimming: above its limit, but not due: "));
}

TEST_CASE("explain and diff take names of any script, and colour nothing that is not a terminal", "[apps]") {
    const TempDir dir;
    const std::string name = "\xE6\xBC\xA2\xE5\xAD\x97 \xC3\xA9.json";
    write_text(dir / name, clearing_chain);
    write_text(dir / ("s " + name + "l"), session_line("\xE6\xBC\xA2", 4, 4'000));
    const std::string session = "'s " + name + "l'";
    const std::string chain = " --config '" + name + "'";
    CHECK(run_cli(dir, "explain " + session + chain + " --session \xE6\xBC\xA2").exit_code == 0);
    const CliResult diff = run_cli(dir, "diff " + session + chain + " --preset lossless --calls");
    CHECK(diff.exit_code == 0);
    CHECK(has(diff.out, "A  " + name + "\nB  lossless\n"));
    CHECK_FALSE(has(diff.out, "\x1b"));
    CHECK(has(run_cli(dir, "config check '" + name + "'").out, name + ": no problem: reduction\n"));
    CHECK(has(run_cli(dir, "doctor '" + name + "'").out, "configuration: " + name + ": reduction\n"));
    CHECK(run_cli(dir, "diff " + session + chain + chain + " --no-color").exit_code == 0);
}
