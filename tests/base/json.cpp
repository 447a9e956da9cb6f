#include "whittle/base/detail/json.hpp"

#include "whittle/base/error.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;
using detail::JsonValue;
using detail::JsonWriter;
using detail::parse_json;

TEST_CASE("a parsed value is of one kind, and of none where the text is no JSON", "[base]") {
    CHECK(parse_json("null").is_null());
    CHECK(parse_json("[1]").is_array());
    CHECK(parse_json("{}").is_object());
    CHECK(*parse_json(R"("a\nb")").string() == "a\nb");
    CHECK(parse_json("true").boolean() == true);
    CHECK_FALSE(parse_json("1").boolean());
    const JsonValue broken = parse_json("[1");
    CHECK_FALSE(broken.is_array());
    CHECK_FALSE(broken.is_null());
    CHECK(broken.string() == nullptr);
    CHECK(broken.size() == 0);
    CHECK(broken.values().empty());
    CHECK_FALSE(broken.find("a"));
}

TEST_CASE("a whole number is given in range only", "[base]") {
    CHECK(parse_json("-9223372036854775808").integer() == INT64_MIN);
    CHECK(parse_json("9223372036854775807").integer() == INT64_MAX);
    CHECK_FALSE(parse_json("9223372036854775808").integer());
    CHECK(parse_json("18446744073709551615").natural() == UINT64_MAX);
    CHECK_FALSE(parse_json("-1").natural());
    CHECK_FALSE(parse_json("1.0").integer());
    CHECK(parse_json("1.50").literal() == "1.5");
}

TEST_CASE("members are in order of their names, and the last of one name stands", "[base]") {
    const JsonValue json = parse_json(R"({"b": 1, "a": [2, "x"], "b": "last"})");
    REQUIRE(json.size() == 2);
    CHECK(json.members()[0].first == "a");
    CHECK(*json.members()[1].second.string() == "last");
    CHECK(*json.find_string("b") == "last");
    CHECK(json.find_string("a") == nullptr);
    CHECK(json.find("a")->values()[0].integer() == 2);
    CHECK_FALSE(json.find("c"));
}

TEST_CASE("a value outlives the text and the value that it was found in", "[base]") {
    const JsonValue inner = [] {
        const std::string text = R"({"deep": {"deeper": "still here, and longer than a short string"}})";
        return *parse_json(text).find("deep")->find("deeper");
    }();
    CHECK(*inner.string() == "still here, and longer than a short string");
}

TEST_CASE("a text that has to be JSON is refused with what was attempted, and where it broke", "[base]") {
    const auto refusal = [](std::string_view text) -> std::string {
        try {
            static_cast<void>(detail::require_json(text, "read a thing"));
        } catch (const Error& error) {
            return error.what();
        }
        return {};
    };
    CHECK(refusal("[1, 2]").empty());
    CHECK(refusal("[1, x]") == "read a thing: offset 4: not JSON");
    CHECK(refusal(std::string_view("[1]\0", 4)) == "read a thing: offset 3: a zero byte");
    CHECK(refusal("[1e999]") == "read a thing: offset 0: a number is out of range");
}

TEST_CASE("the strings of a text are found at any depth, names left out", "[base]") {
    std::vector<std::string> strings = detail::strings_in_json(R"({"a": ["x", {"b": "y"}], "c": "z"})");
    std::ranges::sort(strings);
    CHECK(strings == std::vector<std::string>{"x", "y", "z"});
    const std::string deep = std::string(100'000, '[') + "\"x\"" + std::string(100'000, ']');
    CHECK(detail::strings_in_json(deep) == std::vector<std::string>{"x"});
    CHECK(detail::strings_in_json("[\"x\"").empty());
}

TEST_CASE("a writer gives fractions in the fewest digits, and 0 for what is no number", "[base]") {
    JsonWriter json;
    json.open_array();
    for (const double number : {0.1, 5.0, -2.5, 1e300, std::numeric_limits<double>::infinity(), std::nan("")})
        json.value(number);
    json.close_array();
    CHECK(json.take() == "[0.1,5,-2.5,1e+300,0,0]");
}

TEST_CASE("a writer separates values, escapes text and keeps what is no UTF-8", "[base]") {
    JsonWriter json;
    json.open_object();
    json.member("text", "a \"quote\", a \\, a line\nand \x01");
    json.name("list");
    json.open_array();
    json.value(-1);
    json.value(UINT64_MAX);
    json.open_object();
    json.close_object();
    json.value(true);
    json.close_array();
    json.member("torn", "\xE4\xB8");
    json.bytes_member("bytes", "\xFF");
    json.bytes_member("valid", "\xE4\xB8\xAD");
    json.close_object();
    const std::string text = json.take();
    CHECK(text == R"({"text":"a \"quote\", a \\, a line\nand \u0001","list":[-1,18446744073709551615,{},true],)"
                  "\"torn\":\"\xEF\xBF\xBD\",\"bytes\":{\"base64\":\"/w==\"},\"valid\":\"\xE4\xB8\xAD\"}");
    CHECK(detail::is_json(text));
}
