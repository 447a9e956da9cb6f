#include "whittle/tokens/counter.hpp"

#include "support/catch.hpp"
#include "whittle/base/error.hpp"
#include "whittle/message/chat_message.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

using namespace whittle;

namespace {

std::string error_of(const CharsOptions& options) {
    try {
        (void)chars_counter(options);
    } catch (const Error& error) {
        CHECK(error.errc() == Errc::invalid_config);
        return error.what();
    }
    return {};
}

ChatMessage user_message(std::vector<Part> parts) { return {.role = Role::user, .parts = std::move(parts)}; }

}  // namespace

TEST_CASE("characters are UTF-8 bytes, divided and rounded down", "[tokens]") {
    const auto counter = chars_counter();
    CHECK(counter->count("") == 0);
    CHECK(counter->count("abc") == 0);
    CHECK(counter->count("abcd") == 1);
    CHECK(counter->count("abcdefg") == 1);
    CHECK(counter->count("\xe4\xb8\xad\xe6\x96\x87") == 1);
    CHECK(counter->measure_units("\xff\xff") == 2);
    CHECK(counter->media_tokens({}) == 2'000);
}

TEST_CASE("the pessimistic counter rounds up and takes 1,000 per image", "[tokens]") {
    const auto counter = pessimistic_counter();
    CHECK(counter->count(std::string(30, 'x')) == 10);
    CHECK(counter->count(std::string(31, 'x')) == 11);
    CHECK(counter->count("") == 0);
    const ChatMessage message =
        user_message({{.text = "see this"}, {.kind = PartKind::media, .media = {.mime = "image/png"}}});
    CHECK(count_message(message, *counter) == 1'003);
}

TEST_CASE("parts are added before they are rounded", "[tokens]") {
    const ChatMessage message = user_message({{.text = "ab"}, {.kind = PartKind::thinking, .text = "cd"}});
    CHECK(count_message(message, *chars_counter()) == 1);
}

TEST_CASE("a call counts its tool's name and its arguments, not its id", "[tokens]") {
    const ChatMessage message{
        .role = Role::assistant,
        .parts = {{.kind = PartKind::tool_call, .text = "{}", .call_id = "0123456789", .tool = "read_file"}}};
    CHECK(count_message(message, *chars_counter({.chars_per_token = 1})) == 11);
}

TEST_CASE("a ratio is kept to a thousandth, in exact integer arithmetic", "[tokens]") {
    CHECK(chars_counter({.chars_per_token = 2.5})->to_tokens(5) == 2);
    CHECK(chars_counter({.chars_per_token = 2.5, .round_up = true})->to_tokens(6) == 3);
    CHECK(chars_counter({.chars_per_token = 0.1})->to_tokens(3) == 30);
    CHECK(chars_counter({.chars_per_token = 0.001})->to_tokens(1) == 1'000);
    const auto thirds = chars_counter({.chars_per_token = 3});
    CHECK(thirds->to_tokens(INT64_MAX) == INT64_MAX / 3);
    CHECK(chars_counter({.chars_per_token = 0.5})->to_tokens(INT64_MAX) == INT64_MAX);
    CHECK(thirds->to_tokens(-5) == 0);
    CHECK(chars_counter({.chars_per_token = 1'000'000, .round_up = true})->to_tokens(1) == 1);
}

TEST_CASE("the id tells all parameters that differ from the rule of thumb", "[tokens]") {
    CHECK(chars_counter()->id() == "chars/4");
    CHECK(chars_counter({.chars_per_token = 3.5})->id() == "chars/3.5");
    CHECK(chars_counter({.chars_per_token = 10})->id() == "chars/10");
    CHECK(chars_counter({.chars_per_token = 0.125})->id() == "chars/0.125");
    CHECK(chars_counter({.round_up = true})->id() == "chars/4+ceil");
    CHECK(pessimistic_counter()->id() == "chars/3+ceil/1000");
}

TEST_CASE("all bad options are told at once", "[tokens]") {
    for (const double ratio : {0.0, -1.0, 0.0001, 2e6, std::nan(""), std::numeric_limits<double>::infinity()}) {
        CAPTURE(ratio);
        const std::string text = error_of({.chars_per_token = ratio, .tokens_per_image = -1});
        CHECK(text.find("chars_per_token") != std::string::npos);
        CHECK(text.find("tokens_per_image") != std::string::npos);
    }
    CHECK(error_of({.tokens_per_image = 0}).empty());
}

TEST_CASE("a user's function counts; what is negative counts as 0", "[tokens]") {
    const auto counter =
        counter_from("mine", [](std::string_view text) { return static_cast<std::int64_t>(text.size()) - 2; });
    CHECK(counter->id() == "mine");
    CHECK(counter->count("abcde") == 3);
    CHECK(counter->count("") == 0);
    CHECK_THROWS_AS(counter_from("", [](std::string_view) { return std::int64_t{0}; }), Error);
    CHECK_THROWS_AS(counter_from("mine", nullptr), Error);
}

TEST_CASE("system text and tools are counted beside the messages", "[tokens]") {
    const ToolSpec tools[] = {{.name = "a", .description = "b", .parameters = "{}"},
                              {.name = "a", .description = "b", .parameters = "{ }"}};
    const std::string json = R"({"name":"a","description":"b","parameters":{}})";
    REQUIRE(to_compact_json(tools[0]) == json);
    const auto counter = chars_counter();
    CHECK(count_overhead("12345678", tools, *counter) == 2 + 2 * (static_cast<std::int64_t>(json.size()) / 4));
    CHECK(count_overhead("", {}, *counter) == 0);
}

TEST_CASE("a tool becomes compact JSON that parses to the same values", "[tokens]") {
    const ToolSpec tool{.name = "say \"hi\"",
                        .description = "line\n\ttab \\ \x01 \xc3\xa9",
                        .parameters = "{ \"type\" : \"object\",\n\t\"a b\" : [ 1.50 , \"x \\\" y\\\\\" , true ] }\r\n"};
    const std::string text = to_compact_json(tool);
    CHECK(text ==
          "{\"name\":\"say \\\"hi\\\"\",\"description\":\"line\\n\\ttab \\\\ \\u0001 \xc3\xa9\",\"parameters\":"
          "{\"type\":\"object\",\"a b\":[1.50,\"x \\\" y\\\\\",true]}}");
    const auto json = nlohmann::json::parse(text);
    CHECK(json["name"] == tool.name);
    CHECK(json["description"] == tool.description);
    CHECK(json["parameters"] == nlohmann::json::parse(tool.parameters));
}

TEST_CASE("parameters that are no JSON pass as they are, blank ones count as {}", "[tokens]") {
    CHECK(to_compact_json({.name = "a", .parameters = "{ not json"}) ==
          R"({"name":"a","description":"","parameters":{ not json})");
    CHECK(to_compact_json({.name = "a", .parameters = " \n"}) == R"({"name":"a","description":"","parameters":{}})");
    CHECK(to_compact_json({.name = "\xff", .parameters = "{}"}) ==
          "{\"name\":\"\xef\xbf\xbd\",\"description\":\"\",\"parameters\":{}}");
}

TEST_CASE("parameters nested a hundred thousand deep do not exhaust the stack", "[tokens]") {
    const std::string deep = std::string(100'000, '[') + " " + std::string(100'000, ']');
    CHECK(to_compact_json({.name = "a", .parameters = deep}).size() > 200'000);
}
