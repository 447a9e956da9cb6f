#include "support/catch.hpp"
#include "whittle/openai/openai.hpp"

#include <string>

using namespace whittle;
using openai::Message;

namespace {

std::string after_set(const char* json, std::size_t part, std::string_view text) {
    Message m = Message::parse(json);
    message_traits<Message>::set_text(m, part, text);
    return m.json().dump();
}

std::string after_erase(const char* json, std::size_t part) {
    Message m = Message::parse(json);
    message_traits<Message>::erase_part(m, part);
    return m.json().dump();
}

template <typename Edit>
Errc error_of(const char* json, const Edit& edit) {
    Message m = Message::parse(json);
    const std::string before = m.json().dump();
    try {
        edit(m);
    } catch (const Error& e) {
        CHECK(m.json().dump() == before);
        return e.errc();
    }
    FAIL("no error");
    return {};
}

}  // namespace

TEST_CASE("setting a text leaves unknown fields and the order of keys alone", "[openai]") {
    CHECK(after_set(R"({"x":1,"role":"user","content":"long","name":"ann","y":{"b":1,"a":2}})", 0, "s") ==
          R"({"x":1,"role":"user","content":"s","name":"ann","y":{"b":1,"a":2}})");
    CHECK(after_set(R"({"role":"tool","tool_call_id":"c","content":[{"text":"long","cache":true,"type":"text"}]})", 0,
                    "s") ==
          R"({"role":"tool","tool_call_id":"c","content":[{"text":"s","cache":true,"type":"text"}]})");
    CHECK(after_set(R"({"role":"assistant","reasoning_content":"hm","content":"a"})", 0, "") ==
          R"({"role":"assistant","reasoning_content":"","content":"a"})");
}

TEST_CASE("setting a media part makes it text", "[openai]") {
    CHECK(after_set(R"({"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}}]})", 0, "[image]") ==
          R"({"role":"user","content":[{"type":"text","text":"[image]"}]})");
}

TEST_CASE("arguments stay text where they were text, and an object where they were one", "[openai]") {
    CHECK(
        after_set(
            R"({"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"},"index":0}]})", 0,
            R"({"a": 1})") ==
        R"({"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"a\": 1}"},"index":0}]})");
    CHECK(after_set(R"({"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":{}}}]})", 0,
                    R"({"a": 1})") ==
          R"({"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":{"a":1}}}]})");
    CHECK(after_set(R"({"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f"}}]})", 0, "{}") ==
          R"({"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]})");
}

TEST_CASE("an empty result can be filled", "[openai]") {
    CHECK(after_set(R"({"role":"tool","tool_call_id":"c","content":""})", 0, "x") ==
          R"({"role":"tool","tool_call_id":"c","content":"x"})");
    CHECK(after_set(R"({"role":"tool","tool_call_id":"c","content":null})", 0, "x") ==
          R"({"role":"tool","tool_call_id":"c","content":"x"})");
    CHECK(after_set(R"({"role":"tool","content":[]})", 0, "x") ==
          R"({"role":"tool","content":[{"type":"text","text":"x"}]})");
}

TEST_CASE("a refused edit changes nothing", "[openai]") {
    const char* call = R"({"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]})";
    const char* object_call =
        R"({"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":{}}}]})";
    for (const char* bad : {"", "[1]", "{", "text", "{}{}", "null"}) {
        const auto set = [&](Message& m) { message_traits<Message>::set_text(m, 0, bad); };
        CHECK(error_of(call, set) == Errc::invalid_argument);
        CHECK(error_of(object_call, set) == Errc::invalid_argument);
    }
    std::string deep = R"({"a":)" + std::string(500, '[') + std::string(500, ']') + "}";
    CHECK(error_of(object_call, [&](Message& m) { message_traits<Message>::set_text(m, 0, deep); }) ==
          Errc::invalid_argument);
    CHECK(error_of(call, [](Message& m) { message_traits<Message>::set_text(m, 1, "{}"); }) == Errc::invalid_argument);
    CHECK(error_of(call, [](Message& m) { message_traits<Message>::erase_part(m, 1); }) == Errc::invalid_argument);
    const char* opaque = R"({"role":"assistant","refusal":"no","content":[{"type":"new"}],"tool_calls":[{"id":"x"}]})";
    for (std::size_t part = 0; part < 3; ++part) {
        CHECK(error_of(opaque, [&](Message& m) { message_traits<Message>::set_text(m, part, "{}"); }) ==
              Errc::invalid_argument);
    }
}

TEST_CASE("an error names what was attempted", "[openai]") {
    CHECK_THROWS_WITH(after_erase(R"({"role":"user","content":"x"})", 5), "erase of part 5: the message has 1 parts");
    CHECK_THROWS_WITH(after_set(R"({"role":"assistant","tool_calls":[{"function":{}}]})", 0, "x"),
                      "set the arguments of a tool call: they must be a JSON object");
}

TEST_CASE("erased content is null, which is allowed beside calls and holds no part", "[openai]") {
    CHECK(
        after_erase(
            R"({"role":"assistant","content":"x","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]})",
            0) ==
        R"({"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]})");
    CHECK(after_erase(R"({"role":"user","content":"x"})", 0) == R"({"role":"user","content":null})");
    CHECK(after_erase(R"({"role":"user","content":[{"type":"text","text":"x"}],"z":1})", 0) ==
          R"({"role":"user","content":null,"z":1})");
}

TEST_CASE("the erased content of a tool message is absent, so that no empty result stays behind", "[openai]") {
    CHECK(after_erase(R"({"role":"tool","content":"x","tool_call_id":"c"})", 0) ==
          R"({"role":"tool","tool_call_id":"c"})");
    CHECK(after_erase(R"({"role":"tool","content":null,"tool_call_id":"c"})", 0) ==
          R"({"role":"tool","tool_call_id":"c"})");
    CHECK(after_erase(R"({"role":"tool","content":[],"tool_call_id":"c"})", 0) ==
          R"({"role":"tool","tool_call_id":"c"})");
}

TEST_CASE("erasing takes one item, and the array with its last", "[openai]") {
    const char* two = R"({"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})";
    CHECK(after_erase(two, 0) == R"({"role":"assistant","content":[{"type":"text","text":"b"}]})");
    const char* calls =
        R"({"role":"assistant","content":"t","tool_calls":[{"id":"1","function":{}},{"id":"2","function":{}}]})";
    CHECK(after_erase(calls, 2) == R"({"role":"assistant","content":"t","tool_calls":[{"id":"1","function":{}}]})");
    CHECK(after_erase(R"({"role":"assistant","content":"t","tool_calls":[{"id":"1","function":{}}],"k":1})", 1) ==
          R"({"role":"assistant","content":"t","k":1})");
    CHECK(after_erase(R"({"reasoning_content":"hm","role":"assistant","content":"t"})", 0) ==
          R"({"role":"assistant","content":"t"})");
    CHECK(after_erase(R"({"role":"assistant","content":"t","refusal":"no","audio":{}})", 1) ==
          R"({"role":"assistant","content":"t","audio":{}})");
}
