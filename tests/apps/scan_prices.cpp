// What was billed, in dollars.
#include "apps/cli.hpp"
#include "apps/logged_replies.hpp"
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
          "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5@20250929", "claude-sonnet-4-5[1m]"}) {
        CAPTURE(name);
        CHECK(dollars_of_model(name) == 4.5);
    }
    CHECK(dollars_of_model("openai/gpt-5.1-2025-11-13") == 2.25);
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
    for (const char* wrong : {"3", "x=", "x=3", "x=3,-1", "x=3,nan", "x=1,2,3,4,5", "=1,2", "x=1;2"}) {
        CAPTURE(wrong);
        const CliResult result = run_cli(dir, std::string("scan . --price '") + wrong + "'");
        CHECK(result.exit_code == 2);
        CHECK(has(result.err, "expected MODEL=INPUT,OUTPUT"));
    }
}

TEST_CASE("cached tokens cost what --price says, and without that what input does", "[apps]") {
    const TempDir dir;
    write_text(dir / "a.jsonl",
               R"({"type":"assistant","uuid":"1","parentUuid":null,"sessionId":"a","isSidechain":false,)"
               R"("timestamp":"2026-11-01T10:00:00.000Z","requestId":"r","message":{"id":"m","role":"assistant",)"
               R"("model":"m","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn","usage":{)"
               R"("input_tokens":1000000,"cache_read_input_tokens":1000000,"cache_creation_input_tokens":1000000,)"
               R"("output_tokens":0}}})"
               "\n");
    const auto dollars = [&](const std::string& price) {
        const CliResult result = run_cli(dir, "scan a.jsonl --bill --json --price m=" + price);
        INFO(result.err);
        REQUIRE(result.exit_code == 0);
        return json::parse(result.out)["total"]["dollars"].get<double>();
    };
    CHECK(is_about(dollars("2,10"), 6.0));
    CHECK(is_about(dollars("2,10,0.5"), 4.5));
    CHECK(is_about(dollars("2,10,0.5,3"), 5.5));
}

TEST_CASE("the first sentence has the dollars, or says whose price is not known", "[apps]") {
    const TempDir dir;
    const LoggedReply known{"1", "2026-11-01T10:00:00.000Z", 1'000'000, 100'000, "claude-sonnet-4-5"};
    const LoggedReply unknown{"2", "2026-11-01T11:00:00.000Z", 1'000'000, 100'000, "mine"};
    write_text(dir / "a.jsonl", log_of_replies("a", {known}));
    write_text(dir / "b.jsonl", log_of_replies("b", {known, unknown}));
    write_text(dir / "c.jsonl", log_of_replies("c", {unknown}));
    const std::string all = run_cli(dir, "scan a.jsonl --bill").out;
    CHECK(has(all,
              "\n1 session, 1 model call; 1 call was billed $4.50: 1,000,000 tokens of input (0 % of it read from "
              "the cache) and 100,000 of output.\n"));
    CHECK_FALSE(has(all, "no price is known"));
    const std::string some = run_cli(dir, "scan b.jsonl --bill").out;
    CHECK(has(some, "; the 1 call whose price is known comes to $4.50.\n"));
    CHECK(has(some, "\nno price is known for 1 call, by model: 1 mine (--price MODEL=INPUT,OUTPUT)\n"));
    const std::string none = run_cli(dir, "scan c.jsonl --bill").out;
    CHECK_FALSE(has(none, "dollars"));
    CHECK(has(none, "\nno price is known for any call, by model: 1 mine "));
}

TEST_CASE("strategies are compared by what was billed, changed as their cost with repairs is", "[apps]") {
    const TempDir dir;
    std::filesystem::copy_file(WHITTLE_SOURCE_DIR "/tests/logs/fixtures/claude_code.jsonl", dir / "a.jsonl");
    const CliResult result = run_cli(dir, "scan a.jsonl --json --price 3,15,0.3,3.75");
    REQUIRE(result.exit_code == 0);
    const json scan = json::parse(result.out);
    const double billed = scan["total"]["dollars"].get<double>();
    CHECK(billed > 0);
    const json& strategies = scan["strategies"];
    CHECK(is_about(strategies[0]["dollars"].get<double>(), billed));
    for (const json& strategy : strategies) {
        CAPTURE(strategy["name"].get<std::string>());
        CHECK(strategy["priced_sessions"].get<int>() > 0);
        const bool is_dearer = strategy["cost_with_repairs"] > strategies[0]["cost_with_repairs"];
        CHECK((strategy["dollars"].get<double>() > billed + 1e-9) == is_dearer);
    }
    const std::string text = run_cli(dir, "scan a.jsonl --price 3,15,0.3,3.75").out;
    CHECK(has(text, "\nUnder the preset recommended it would have been $"));
    CHECK_FALSE(has(text, "By our count they cost"));
}
