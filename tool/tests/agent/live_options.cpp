// The options of a real model, and what it may cost.
#include "agent/live_model.hpp"
#include "agent/options.hpp"
#include "agent/spending.hpp"

#include "support/catch.hpp"
#include "support/errc_of.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using whittle::Errc;
using whittle::testing::errc_of;

namespace {

agent::Options parse(std::vector<std::string> arguments) {
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    return agent::parse_options(pointers);
}

const std::vector<std::string> needed{"--workspace", "w", "--config", "c.json"};

agent::Options parse_more(std::vector<std::string> more) {
    more.insert(more.begin(), needed.begin(), needed.end());
    return parse(std::move(more));
}

}  // namespace

TEST_CASE("a real model needs a task, unless a session is resumed", "[agent]") {
    const agent::Options options =
        parse_more({"--model", "m", "--base-url", "http://localhost/v1", "--api", "llama_cpp", "--task", "count"});
    CHECK(options.model == "m");
    CHECK(options.api == "llama_cpp");
    CHECK(errc_of([] { (void)parse_more({"--model", "m"}); }) == Errc::invalid_argument);
    CHECK(parse_more({"--model", "m", "--session", "s.jsonl", "--resume"}).resume);
    CHECK(errc_of([] { (void)parse_more({"--model", "m", "--resume"}); }) == Errc::invalid_argument);
    CHECK(errc_of([] { (void)parse_more({"--task", "count"}); }) == Errc::invalid_argument);
}

TEST_CASE("options that say nothing without a real model are refused", "[agent]") {
    for (const char* option : {"--base-url", "--api", "--api-key-env"})
        CHECK(errc_of([&] { (void)parse_more({option, "openai"}); }) == Errc::invalid_argument);
}

namespace {

std::string key_of(const whittle::ModelSettings& model) { return whittle::cli::http_settings_of(model)->api_key_env; }

}  // namespace

TEST_CASE("the usual key goes to the provider's own address only", "[agent]") {
    const auto both = [](std::string_view) { return std::optional<std::string>("secret"); };
    const auto key = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"--model", "m", "--task", "t"});
        return key_of(agent::live_model_settings(parse_more(std::move(more)), both));
    };
    CHECK(key({}) == "OPENAI_API_KEY");
    CHECK(key({"--api", "anthropic"}) == "ANTHROPIC_API_KEY");
    CHECK(key({"--base-url", "http://localhost:8080/v1"}).empty());
    CHECK(key({"--base-url", "https://elsewhere/v1", "--api", "anthropic"}).empty());
    CHECK(key({"--base-url", "https://elsewhere/v1", "--api-key-env", "THEIR_KEY"}) == "THEIR_KEY");
}

TEST_CASE("a usual key that is set to nothing is none", "[agent]") {
    const agent::Options options = parse_more({"--model", "m", "--task", "t"});
    const auto empty = [](std::string_view) { return std::optional<std::string>(""); };
    const auto none = [](std::string_view) { return std::optional<std::string>(); };
    CHECK(key_of(agent::live_model_settings(options, empty)).empty());
    CHECK(key_of(agent::live_model_settings(options, none)).empty());
}

TEST_CASE("a cost is a number above 0", "[agent]") {
    CHECK(parse_more({"--max-cost", "0.25"}).max_cost == 0.25);
    for (const char* text : {"0", "-1", "", "1x", "inf", "nan"})
        CHECK(errc_of([&] { (void)parse_more({"--max-cost", text}); }) == Errc::invalid_argument);
}

TEST_CASE("the call after the limit was reached is not made", "[agent]") {
    agent::Spending spending(
        whittle::PricesPerMillion{.input = 2.0, .cache_read = 0.2, .cache_write = 2.5, .output = 10.0}, 0.5);
    spending.require_room();
    spending.add({.uncached_input = 100'000, .cache_read = 100'000, .cache_write = 20'000, .output = 10'000});
    CHECK(std::abs(spending.spent() - 0.37) < 1e-9);
    spending.require_room();
    spending.add({.uncached_input = 100'000});
    CHECK(errc_of([&] { spending.require_room(); }) == Errc::limit_exceeded);
}

TEST_CASE("a limit without prices is refused, and without a limit nothing is", "[agent]") {
    CHECK(errc_of([] { (void)agent::Spending({}, 1.0); }) == Errc::invalid_config);
    agent::Spending unlimited({}, 0.0);
    unlimited.add({.uncached_input = 1'000'000'000});
    CHECK_NOTHROW(unlimited.require_room());
}
