// What was billed, in dollars.
#include "cli.hpp"
#include "logged_replies.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <string>

using namespace whittle::testing;
using nlohmann::json;

namespace {

bool is_about(double value, double wanted) { return value > wanted - 1e-6 && value < wanted + 1e-6; }

/// To a ten-thousandth of a cent.
double rounded_dollars(const json& dollars) { return std::round(dollars.get<double>() * 1e6) / 1e6; }

json bill_of_model(const std::string& model, int input, int output, const std::string& options = "") {
    const TempDir dir;
    write_text(dir / "a.jsonl", log_of_replies("a", {{"1", "2026-11-01T10:00:00.000Z", input, output, model}}));
    const CliResult result = run_cli(dir, "scan a.jsonl --bill --json " + options);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return json::parse(result.out)["total"];
}

/// Of a million tokens of input and a hundred thousand of output.
json dollars_of_model(const std::string& model, const std::string& options = "") {
    return bill_of_model(model, 1'000'000, 100'000, options)["dollars"];
}

}  // namespace

TEST_CASE("a call costs what its model's provider lists, whatever a gateway puts around the name", "[apps]") {
    for (const char* name :
         {"claude-sonnet-4-5", "claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4.5", "Claude-Sonnet-4-5-latest",
          "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5@20250929", "claude-sonnet-4-5[1m]",
          "anthropic/claude-sonnet-4.5:thinking", "claude-4.5-sonnet"}) {
        CAPTURE(name);
        CHECK(dollars_of_model(name) == 4.5);
    }
    for (const char* name : {"openai/gpt-5.1-2025-11-13", "openai:gpt-5.1", "us.openai.gpt-5.1", "gpt-5.1:online"}) {
        CAPTURE(name);
        CHECK(dollars_of_model(name) == 2.25);
    }
    CHECK(dollars_of_model("gpt-4o-2024-05-13") == 6.5);
    CHECK(dollars_of_model("gpt-4o-2024-08-06") == 3.5);
    CHECK(rounded_dollars(dollars_of_model("gemini-3-flash")) == 0.8);
    for (const char* name : {"claude-sonnet-4-5-thinker", "sonnet", "gpt-5.1-x", "llama-4"}) {
        CAPTURE(name);
        CHECK(dollars_of_model(name).is_null());
    }
}

TEST_CASE("a call above the provider's limit for long ones costs more as a whole", "[apps]") {
    CHECK(rounded_dollars(bill_of_model("gpt-5.5", 272'000, 0)["dollars"]) == 1.36);
    CHECK(bill_of_model("gpt-5.5", 272'001, 0)["dollars"].get<double>() > 2.72);
    CHECK(bill_of_model("gpt-5.5", 300'000, 100'000)["dollars"] == 7.5);
}

TEST_CASE("--price goes before what is listed, and without a model is for all that have none", "[apps]") {
    CHECK(dollars_of_model("my-model", "--price my-model=1,10") == 2.0);
    CHECK(dollars_of_model("claude-sonnet-4-5", "--price claude-sonnet-4-5=1,10") == 2.0);
    CHECK(dollars_of_model("claude-sonnet-4-5", "--price 1,10") == 4.5);
    CHECK(dollars_of_model("llama", "--price 1,10 --price other=5,5") == 2.0);
    const TempDir dir;
    for (const char* wrong : {"3", "x=", "x=3", "x=3,-1", "x=3,nan", "x=1,2,3,4,5", "=1,2", "x=1;2", "x=1e300,1"}) {
        CAPTURE(wrong);
        const CliResult result = run_cli(dir, std::string("scan . --price '") + wrong + "'");
        CHECK(result.exit_code == 2);
        CHECK(has(result.err, "expected MODEL=INPUT,OUTPUT"));
    }
}

TEST_CASE("cached tokens cost what --price says, without that in proportion what is listed, or else what input does",
          "[apps]") {
    const TempDir dir;
    const auto dollars = [&](const std::string& model, const std::string& price) {
        write_text(dir / "a.jsonl",
                   R"({"type":"assistant","uuid":"1","parentUuid":null,"sessionId":"a","isSidechain":false,)"
                   R"("timestamp":"2026-11-01T10:00:00.000Z","requestId":"r","message":{"id":"m","role":"assistant",)"
                   R"("model":")" +
                       model +
                       R"(","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn","usage":{)"
                       R"("input_tokens":1000000,"cache_read_input_tokens":1000000,)"
                       R"("cache_creation_input_tokens":1000000,"output_tokens":0}}})"
                       "\n");
        const CliResult result = run_cli(dir, "scan a.jsonl --bill --json --price " + model + "=" + price);
        INFO(result.err);
        REQUIRE(result.exit_code == 0);
        return json::parse(result.out)["total"]["dollars"].get<double>();
    };
    CHECK(is_about(dollars("m", "2,10"), 6.0));
    CHECK(is_about(dollars("m", "2,10,0.5"), 4.5));
    CHECK(is_about(dollars("m", "2,10,0.5,3"), 5.5));
    CHECK(is_about(dollars("claude-sonnet-4-5", "2,10"), 2.0 + 0.2 + 2.5));
}

TEST_CASE("a --price of a model that no call is of is told", "[apps]") {
    const TempDir dir;
    write_text(dir / "a.jsonl", log_of_replies("a", {{"1", "2026-11-01T10:00:00.000Z", 10, 1, "my-model"}}));
    const CliResult result = run_cli(dir, "scan a.jsonl --bill --price typo=1,2 --price my-model=1,2");
    CHECK(result.exit_code == 0);
    CHECK(has(result.err, "note: --price typo: no call is of that model\n"));
    CHECK_FALSE(has(result.err, "my-model"));
}

TEST_CASE("the first sentence has the dollars, or says whose price is not known", "[apps]") {
    const TempDir dir;
    const LoggedReply known{"1", "2026-11-01T10:00:00.000Z", 1'000'000, 100'000, "claude-sonnet-4-5"};
    const LoggedReply unknown{"2", "2026-11-01T11:00:00.000Z", 1'000'000, 100'000, "mine"};
    write_text(dir / "a.jsonl", log_of_replies("a", {known}));
    write_text(dir / "b.jsonl", log_of_replies("b", {known, unknown}));
    write_text(dir / "c.jsonl", log_of_replies("c", {unknown}));
    const std::string all = run_cli(dir, "scan a.jsonl --bill").out;
    CHECK(
        has(all,
            "\n1 session, 1 model call; 1 call was billed, $4.50 by the prices of its model: 1,000,000 tokens of input "
            "(0 % of it read from the cache) and 100,000 of output.\n"));
    CHECK_FALSE(has(all, "no price is known"));
    const std::string some = run_cli(dir, "scan b.jsonl --bill").out;
    CHECK(has(some, "; the 1 call whose price is known comes to $4.50.\n"));
    CHECK(has(some, "\nno price is known for 1 call, by model: 1 mine (--price MODEL=INPUT,OUTPUT)\n"));
    const std::string none = run_cli(dir, "scan c.jsonl --bill").out;
    CHECK_FALSE(has(none, "dollars"));
    CHECK(has(none, "\nno price is known for any call, by model: 1 mine "));
}

TEST_CASE("what a strategy costs in dollars is the bill, changed as its cost with refetches is over what was sent",
          "[apps]") {
    const TempDir dir;
    std::filesystem::copy_file(WHITTLE_SOURCE_DIR "/tool/tests/logs/fixtures/claude_code.jsonl", dir / "a.jsonl");
    // At the factors of its cache profile, so that the ratio of tokens is that of dollars.
    const CliResult result =
        run_cli(dir, "scan a.jsonl --json --price claude-opus-4-1=3,15,0.3,3.75 --price 3,15,0.3,3.75");
    REQUIRE(result.exit_code == 0);
    const json scan = json::parse(result.out);
    const double billed = scan["total"]["dollars"].get<double>();
    CHECK(billed > 0);
    const json& own = scan["strategies"][0];
    CHECK(own["cost_with_refetches"] == own["cost"]);
    CHECK(is_about(own["dollars"].get<double>(), billed));
    for (const json& strategy : scan["strategies"]) {
        CAPTURE(strategy["name"].get<std::string>());
        CHECK(strategy["priced_sessions"].get<int>() > 0);
        const bool is_more_expensive = strategy["cost_with_refetches"] > own["cost_with_refetches"];
        CHECK((strategy["dollars"].get<double>() > billed + 1e-9) == is_more_expensive);
    }
    const std::string text = run_cli(dir, "scan a.jsonl --price 3,15,0.3,3.75").out;
    CHECK(has(text, "\nBy our count of the same requests they would have cost $"));
}

TEST_CASE("what an agent's own compaction lost is read again on both sides", "[apps]") {
    // The answer to the last prompt is what only the first result had, and the compaction took it away.
    const TempDir dir;
    const std::string value = "the-token-5f2c9a71d3";
    std::string log;
    int number = 0;
    const auto add = [&](const std::string& rest) {
        const std::string parent = number == 0 ? "null" : "\"u" + std::to_string(number) + "\"";
        ++number;
        log += R"({"isSidechain":false,"sessionId":"s","cwd":"/w","version":"2.1.50","uuid":"u)" +
               std::to_string(number) + R"(","parentUuid":)" + parent + R"(,"timestamp":"2026-11-01T10:00:)" +
               (number < 10 ? "0" : "") + std::to_string(number) + R"(.000Z",)" + rest + "}\n";
    };
    const auto reply = [&](const std::string& content, int input) {
        add(R"("type":"assistant","requestId":"r)" + std::to_string(number) + R"(","message":{"id":"m)" +
            std::to_string(number) + R"(","role":"assistant","model":"claude-sonnet-4-5","content":[)" + content +
            R"(],"stop_reason":"tool_use","usage":{"input_tokens":)" + std::to_string(input) +
            R"(,"output_tokens":50}})");
    };
    add(R"("type":"user","message":{"role":"user","content":"Read the file, later write the token."})");
    reply(R"({"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/w/a"}})", 50);
    add(R"("type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":")" +
        std::string(4'000, 'x') + " " + value + R"("}]})");
    reply(R"({"type":"text","text":"I have read it."})", 1'100);
    add(R"("type":"system","subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":{"trigger":"auto","preTokens":1200})");
    add(R"("type":"user","isCompactSummary":true,"message":{"role":"user","content":"A summary without it."})");
    add(R"("type":"user","message":{"role":"user","content":"Go on."})");
    reply(R"({"type":"tool_use","id":"t2","name":"Bash","input":{"command":"curl -d )" + value + R"("}})", 60);
    write_text(dir / "a.jsonl", log);
    const json strategies = json::parse(run_cli(dir, "scan a.jsonl --json").out)["strategies"];
    CHECK(strategies[0]["lost"].get<int>() > 0);
    CHECK(strategies[0]["cost_with_refetches"].get<double>() > strategies[0]["cost"].get<double>());
    const std::string text = run_cli(dir, "scan a.jsonl").out;
    CHECK(has(text, "\nBy our count of the same requests they cost $"));
    CHECK(has(text, " as recorded and would have cost $"));
}
