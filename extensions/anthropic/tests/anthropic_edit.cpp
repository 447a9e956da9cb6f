#include "support/catch.hpp"
#include "whittle/anthropic/anthropic.hpp"

#include <string>

using namespace whittle;
using anthropic::Message;

namespace {

std::string after_set(const std::string& json, std::size_t part, std::string_view text) {
    Message m = Message::parse(json);
    message_traits<Message>::set_text(m, part, text);
    return m.json().dump();
}

std::string after_erase(const std::string& json, std::size_t part) {
    Message m = Message::parse(json);
    message_traits<Message>::erase_part(m, part);
    return m.json().dump();
}

/// The error of setting part 0 of a reply with that one block; the message must stay as it was.
std::string error_of_set(const std::string& block, std::string_view text = "{}") {
    Message m = Message::parse(R"({"role":"assistant","content":[)" + block + "]}");
    const std::string before = m.json().dump();
    try {
        message_traits<Message>::set_text(m, 0, text);
    } catch (const Error& e) {
        CHECK(e.errc() == Errc::invalid_argument);
        CHECK(m.json().dump() == before);
        return e.what();
    }
    return "no error";
}

/// A user message with one result of that content and the user's text behind it.
std::string with_result(const std::string& content) {
    return R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c")" +
           (content.empty() ? "" : R"(,"content":)" + content) +
           R"(,"cache_control":{"type":"ephemeral"}},{"type":"text","text":"go on"}]})";
}

const std::string only_text = R"({"role":"user","content":[{"type":"text","text":"go on"}]})";

}  // namespace

TEST_CASE("setting an Anthropic text leaves unknown fields, cache breakpoints and the order of keys alone",
          "[anthropic]") {
    CHECK(after_set(R"({"x":1,"role":"user","content":"long","y":{"b":1,"a":2}})", 0, "s") ==
          R"({"x":1,"role":"user","content":"s","y":{"b":1,"a":2}})");
    CHECK(
        after_set(
            R"({"role":"user","content":[{"text":"long","cache_control":{"type":"ephemeral"},"type":"text","z":[]}]})",
            0, "s") ==
        R"({"role":"user","content":[{"text":"s","cache_control":{"type":"ephemeral"},"type":"text","z":[]}]})");
    CHECK(after_set(with_result(R"("long")"), 0, "s") == with_result(R"("s")"));
    CHECK(after_set(with_result(R"([{"type":"text","text":"a"},{"k":1,"type":"text","text":"b"}])"), 1, "s") ==
          with_result(R"([{"type":"text","text":"a"},{"k":1,"type":"text","text":"s"}])"));
    CHECK(after_set(only_text, 0, "a\xFF") ==
          "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\xEF\xBF\xBD\"}]}");
}

TEST_CASE("setting the input of a call keeps it an object", "[anthropic]") {
    CHECK(
        after_set(
            R"({"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{"b":1},"caller":{"type":"direct"}}]})",
            0, R"({"z": 1, "a": [2.0]})") ==
        R"({"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{"z":1,"a":[2.0]},"caller":{"type":"direct"}}]})");
    CHECK(after_set(R"({"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f"}]})", 0, "{}") ==
          R"({"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]})");
    const std::string call = R"({"type":"tool_use","id":"c","name":"f","input":{}})";
    for (const char* bad : {"", "[1]", "{", "text", "{}{}", "null"}) {
        CHECK(error_of_set(call, bad) == "set the arguments of a tool call: they must be a JSON object");
    }
    CHECK_THAT(error_of_set(call, R"({"a":)" + std::string(500, '[') + std::string(500, ']') + "}"),
               Catch::Matchers::EndsWith("nested deeper than 197 levels"));
}

TEST_CASE("input as deep as allowed can be set and the message saved", "[anthropic]") {
    Message m =
        Message::parse(R"({"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]})");
    message_traits<Message>::set_text(m, 0, R"({"a":)" + std::string(196, '[') + std::string(196, ']') + "}");
    const std::string bytes = message_traits<Message>::to_bytes(m);
    CHECK(message_traits<Message>::from_bytes(bytes) == m);
    CHECK_NOTHROW(Message(m.json()));
}

TEST_CASE("signed and redacted thinking cannot be edited, only erased", "[anthropic]") {
    const std::string thinking = R"({"type":"thinking","thinking":"hm","signature":"S"})";
    CHECK(error_of_set(thinking) == "set the text of a part: signed thinking can only be erased");
    CHECK(error_of_set(R"({"type":"redacted_thinking","data":"D"})") ==
          "set the text of a part: redacted thinking can only be erased");
    CHECK(after_erase(R"({"role":"assistant","content":[)" + thinking + R"(,{"type":"text","text":"t"}]})", 0) ==
          R"({"role":"assistant","content":[{"type":"text","text":"t"}]})");
}

TEST_CASE("thinking without a signature is text like any other", "[anthropic]") {
    CHECK(after_set(R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":""}]})", 0, "s") ==
          R"({"role":"assistant","content":[{"type":"thinking","thinking":"s","signature":""}]})");
}

TEST_CASE("opaque blocks cannot be set", "[anthropic]") {
    for (const char* block : {R"({"type":"server_tool_use","id":"s","name":"web_search","input":{}})",
                              R"({"type":"compaction","content":null})", R"({"type":"new"})", R"({"type":"text"})"}) {
        CHECK(error_of_set(block) == "set the text of a part: it is opaque");
    }
    CHECK_THROWS_WITH(after_set(R"({"role":"user","content":7})", 0, "x"), "set the text of a part: it is opaque");
    CHECK_THROWS_WITH(after_set(with_result(R"([{"type":"search_result"}])"), 0, "x"),
                      "set the text of a part: it is opaque");
    CHECK_THROWS_WITH(after_set(with_result("7"), 1, "x"),
                      "set the text of a part: the content of the tool result is opaque");
    CHECK_THROWS_WITH(after_set(only_text, 5, "x"), "set the text of part 5: the message has 1 parts");
    CHECK_THROWS_WITH(after_erase(only_text, 1), "erase of part 1: the message has 1 parts");
}

TEST_CASE("a medium becomes text and keeps its cache breakpoint", "[anthropic]") {
    CHECK(
        after_set(
            R"({"role":"user","content":[{"type":"image","source":{"type":"url","url":"u"},"cache_control":{"type":"ephemeral"}}]})",
            0, "[image]") ==
        R"({"role":"user","content":[{"type":"text","text":"[image]","cache_control":{"type":"ephemeral"}}]})");
    CHECK(after_set(with_result(R"([{"type":"image","source":{"type":"file","file_id":"f"}}])"), 0, "[image]") ==
          with_result(R"([{"type":"text","text":"[image]"}])"));
}

TEST_CASE("an empty Anthropic result can be filled", "[anthropic]") {
    const auto filled = [](const std::string& content) {
        return Message::parse(after_set(with_result(content), 0, "x")).json()["content"][0]["content"].dump();
    };
    CHECK(filled("") == R"("x")");
    CHECK(filled("null") == R"("x")");
    CHECK(filled(R"("")") == R"("x")");
    CHECK(filled("[]") == R"([{"type":"text","text":"x"}])");
    CHECK(after_set(with_result(R"([{"type":"new"}])"), 1, "x") ==
          with_result(R"([{"type":"new"},{"type":"text","text":"x"}])"));
}

TEST_CASE("an emptied message has content [], which holds no part", "[anthropic]") {
    CHECK(after_erase(only_text, 0) == R"({"role":"user","content":[]})");
    CHECK(after_erase(R"({"role":"user","content":"x","z":1})", 0) == R"({"role":"user","content":[],"z":1})");
    CHECK(after_erase(R"({"role":"user","content":7})", 0) == R"({"role":"user","content":[]})");
}

TEST_CASE("erasing the last part of a result takes its block, so that no empty result stays behind", "[anthropic]") {
    CHECK(after_erase(with_result(R"("x")"), 0) == only_text);
    CHECK(after_erase(with_result(""), 0) == only_text);
    CHECK(after_erase(with_result("[]"), 0) == only_text);
    CHECK(after_erase(with_result("null"), 0) == only_text);
    CHECK(after_erase(with_result(R"([{"type":"text","text":"a"}])"), 0) == only_text);
    CHECK(after_erase(with_result(R"([{"type":"text","text":"a"},{"type":"text","text":"b"}])"), 0) ==
          with_result(R"([{"type":"text","text":"b"}])"));
}

TEST_CASE("a result of media alone shows an empty text behind them, which can be filled", "[anthropic]") {
    const std::string image = R"({"type":"image","source":{"type":"file","file_id":"f"}})";
    CHECK(after_set(with_result("[" + image + "]"), 1, "x") ==
          with_result("[" + image + R"(,{"type":"text","text":"x"}])"));
    CHECK(after_erase(with_result("[" + image + "]"), 1) == with_result("[" + image + "]"));
    CHECK(after_erase(with_result("[" + image + "]"), 0) == with_result("[]"));
    CHECK(after_erase(with_result("[" + image + R"(,{"type":"text","text":"x"}])"), 1) ==
          with_result("[" + image + "]"));
}

TEST_CASE("a result keeps its call answered while opaque items stand in it", "[anthropic]") {
    CHECK(after_erase(with_result(R"([{"type":"new"},{"type":"text","text":"a"}])"), 1) ==
          with_result(R"([{"type":"new"}])"));
    CHECK(after_erase(with_result(R"([{"type":"new"}])"), 1) == with_result(R"([{"type":"new"}])"));
    CHECK(after_erase(with_result(R"([{"type":"new"}])"), 0) == with_result("[]"));
    CHECK(after_erase(with_result("7"), 0) == with_result(""));
}
