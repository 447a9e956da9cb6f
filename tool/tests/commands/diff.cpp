#include "cli.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <vector>

using namespace whittle::testing;
using nlohmann::ordered_json;

namespace {

std::vector<ordered_json> requests_of(const TempDir& dir, const std::string& chain) {
    REQUIRE(run_cli(dir, "replay s.jsonl --requests " + chain + ".jsonl --config " + chain).exit_code == 0);
    std::vector<ordered_json> requests;
    std::istringstream in(read_text(dir / (chain + ".jsonl")));
    for (std::string line; std::getline(in, line);) requests.push_back(ordered_json::parse(line));
    return requests;
}

/// The index of the first message that differs; null where none does.
ordered_json first_difference(const ordered_json& a, const ordered_json& b) {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        if (a[i] != b[i]) return i;
    }
    return a.size() == b.size() ? ordered_json(nullptr) : ordered_json(std::min(a.size(), b.size()));
}

}  // namespace

TEST_CASE("diff says where the requests of two chains part, and which messages they treat differently", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    write_text(dir / "all.json", R"({"profile": {"cache": "anthropic_5m"}})");
    write_text(dir / "s.jsonl", session_line("a", 3, 4'000));
    const CliResult result = run_cli(dir, "diff s.jsonl --config chain.json --config all.json --calls");
    REQUIRE(result.exit_code == 0);
    CHECK(result.err.empty());
    CHECK(result.out == R"(a: 4 calls
A  chain.json
B  all.json

                          A      B    B/A
input tokens          4,050  6,014  1.485
largest request       2,004  3,005  1.500
read from the cache       0  2,004      -
cost in tokens        4,861  5,005  1.030
cache resets              1      0  0.000
commits                   1      0  0.000
calls of summarizers      0      0      -
tokens: of all calls together, by each chain's own counter and cache. cost in tokens: what the calls cost at the plain input price; output is paid too, and so is fetching again what was needed and missing; by characters / 4
cache resets: calls that break what the cache holds by more than 64 tokens. commits: changes that the chain made, each of one message or several

call  tokens A  tokens B  cost A  cost B  differs at
0            2         2       3       3           -
1        1,003     1,003   1,254   1,254           -
2        2,004     2,004   2,505   2,505           -
3        1,041     3,005   1,301   1,452           2
cost of a call: of its input alone, by the chain's own counter and cache. differs at: index of the first message that differs

1 of 4 requests differ, the first at call 3
call 3: 2 of its messages differ
    2 tool read, 1,000 tokens recorded
      A cleared, 18 tokens by reduction: clear, rule old_round
      B kept, 1,000 tokens
    4 tool read, 1,000 tokens recorded
      A cleared, 18 tokens by reduction: clear, rule old_round
      B kept, 1,000 tokens

what these words mean:
  clear: an old tool result, replaced by a placeholder
  cleared: replaced by a short placeholder
  kept: as it was recorded
  old_round: in tool rounds older than those that are kept
)");
    CHECK(files_in(dir) == std::vector<std::string>{"all.json", "chain.json", "s.jsonl"});
}

TEST_CASE("diff --json agrees with the requests that replay writes", "[apps]") {
    const TempDir dir;
    const std::string memory = R"({"storage": {"type": "memory"}, "middlewares": [{"type": "reduction",
      "skip_truncation": true, "max_tokens_for_clear": )";
    write_text(dir / "early.json", memory + "2000}]}");
    write_text(dir / "late.json", memory + "5000}]}");
    write_text(dir / "s.jsonl", session_line("a", 9, 4'000));
    const auto early = requests_of(dir, "early.json");
    const auto late = requests_of(dir, "late.json");
    const CliResult result = run_cli(dir, "diff s.jsonl --config early.json --config late.json --calls --json");
    REQUIRE(result.exit_code == 0);
    const ordered_json shown = ordered_json::parse(result.out);
    REQUIRE(shown["call_list"].size() == early.size());
    ordered_json first = nullptr;
    std::int64_t different = 0;
    for (std::size_t i = 0; i < early.size(); ++i) {
        CAPTURE(i);
        const ordered_json& call = shown["call_list"][i];
        CHECK(call["tokens"] == ordered_json{early[i]["tokens"], late[i]["tokens"]});
        const ordered_json place = first_difference(early[i]["messages"], late[i]["messages"]);
        CHECK(call["first_different_message"] == place);
        if (place.is_null()) continue;
        ++different;
        if (first.is_null()) first = i;
    }
    CHECK(different > 0);
    CHECK(shown["different_calls"] == different);
    CHECK(shown["first_different_call"] == first);
    CHECK(shown["shown_call"] == first);
    const ordered_json replayed =
        ordered_json::parse(run_cli(dir, "replay s.jsonl --config late.json --json --totals").out)["total"];
    CHECK(shown["chains"][1]["sent"] == replayed["sent"]);
    for (const ordered_json& message : shown["messages"]) CHECK(message["a"]["recorded"] == message["b"]["recorded"]);
}

TEST_CASE("diff takes presets in the order of the command line, and says when nothing differs", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", memory_chain);
    write_text(dir / "s.jsonl", session_line("a", 2, 40));
    const ordered_json shown = ordered_json::parse(
        run_cli(dir, "diff s.jsonl --preset lossless --config chain.json --window 100000 --json").out);
    CHECK(shown["chains"][0]["name"] == "lossless");
    CHECK(shown["chains"][1]["name"] == "chain.json");
    CHECK(shown["first_different_call"].is_null());
    CHECK(shown["shown_call"].is_null());
    CHECK(shown["messages"].empty());
    CHECK(has(run_cli(dir, "diff s.jsonl --preset lossless --config chain.json").out, "all requests are the same\n"));
}

TEST_CASE("a summary that only one chain wrote stands in diff as added", "[apps]") {
    const TempDir dir;
    write_text(dir / "fold.json", R"({"storage": {"type": "memory"},
      "models": {"writer": {"type": "scripted", "replies": ["Files were read."]}},
      "middlewares": [{"type": "summarization", "model": "writer", "trigger": {"context_tokens": 3000},
                       "keep_recent_tokens": 1200}]})");
    write_text(dir / "chain.json", memory_chain);
    write_text(dir / "s.jsonl", session_line("a", 5, 4'000));
    const ordered_json shown =
        ordered_json::parse(run_cli(dir, "diff s.jsonl --config fold.json --config chain.json --json --call 5").out);
    bool has_summary = false;
    for (const ordered_json& message : shown["messages"]) {
        if (!message["b"].is_null()) continue;
        has_summary = true;
        CHECK(message["a"]["state"] == "added");
        CHECK(has(message["a"]["text"].get<std::string>(), "Files were read."));
    }
    CHECK(has_summary);
}

TEST_CASE("diff wants two chains", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", memory_chain);
    write_text(dir / "s.jsonl", session_line("a", 2, 40));
    const CliResult one = run_cli(dir, "diff s.jsonl --config chain.json");
    CHECK(one.exit_code == 2);
    CHECK(one.err == "whittle: diff: expected two of --config CHAIN.json and --preset NAME, found 1\n");
    CHECK(run_cli(dir, "diff s.jsonl --config chain.json --config chain.json --window 5").exit_code == 2);
    CHECK(run_cli(dir, "diff s.jsonl --config chain.json --config chain.json --call 7").exit_code == 2);
}
