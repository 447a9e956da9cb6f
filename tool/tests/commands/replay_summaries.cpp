// What `whittle replay` says of a summarizer.
#include "cli.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <sstream>
#include <string>

using namespace whittle::testing;
using nlohmann::json;

namespace {

constexpr const char* folding_chain = R"({
  "profile": {"context_window": 10000, "prices": {"input": 2.0, "output": 10.0}},
  "models": {"m": {"type": "scripted", "replies": ["<summary>THE GIST</summary>"]}},
  "middlewares": [{"type": "summarization", "model": "m", "trigger": {"context_tokens": 4000},
                   "keep_recent_tokens": 1500}]
})";

}  // namespace

TEST_CASE("replay counts the calls of a summarizer and shows them in the requests", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", folding_chain);
    write_text(dir / "s.jsonl", session_line("a", 10, 4'000));
    const CliResult result = run_cli(dir, "replay s.jsonl --config chain.json --json --requests r.jsonl");
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    const json total = json::parse(result.out)["total"];
    const json& side = total["side_calls"];
    CHECK(total["commits"] == side["calls"]);
    CHECK(side["calls"] > 1);
    CHECK(side["input_tokens"] > 3'000);
    CHECK(side["output_tokens"] == 6 * side["calls"].get<int>());  // 27 bytes each
    CHECK(total["sent"]["peak_tokens"] <= 4'000 + 1'001);
    CHECK(total["restorable"] == 1.0);
    // The calls of the summarizer are among the costs: without its words they would be less.
    const double input = total["sent"]["input_cost_tokens"];
    CHECK(total["cost"]["sent"].get<double>() > input + side["input_tokens"].get<double>() * 0.1);

    std::istringstream lines(read_text(dir / "r.jsonl"));
    int calls = 0;
    for (std::string line; std::getline(lines, line);) {
        const json request = json::parse(line);
        if (!request.contains("side_calls")) continue;
        for (const json& call : request["side_calls"]) {
            ++calls;
            CHECK(call["purpose"] == "summarization: summary");
            CHECK(call["reply"] == "<summary>THE GIST</summary>");
            CHECK(call["messages"].size() == 3);
            CHECK(call["shares_prefix"] == false);
        }
        CHECK(request["messages"].dump().find("THE GIST") != std::string::npos);
    }
    CHECK(calls == side["calls"]);
}
