#include "support/catch.hpp"
#include "whittle/message/chat_message.hpp"
#include "whittle/openai/openai.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <type_traits>
#include <vector>

using namespace whittle;
using openai::Message;

namespace {

Part text(std::string value) { return {.kind = PartKind::text, .text = std::move(value)}; }
Part result(std::string value) {
    return {.kind = PartKind::tool_result, .text = std::move(value), .call_id = "c1", .tool = "ls"};
}
Part call(std::string id, std::string tool, std::string arguments) {
    return {
        .kind = PartKind::tool_call, .text = std::move(arguments), .call_id = std::move(id), .tool = std::move(tool)};
}
Part media(std::string mime, std::string url, std::string call_id = "") {
    return {.kind = PartKind::media,
            .call_id = std::move(call_id),
            .media = {.mime = std::move(mime), .url = std::move(url)}};
}
Part other(std::string value) { return {.kind = PartKind::other, .text = std::move(value)}; }

std::vector<Part> parts(const char* json) { return parts_of(Message::parse(json)); }

}  // namespace

TEST_CASE("an OpenAI message moves without throwing and is copyable", "[openai]") {
    STATIC_REQUIRE(std::is_nothrow_move_constructible_v<Message>);
    STATIC_REQUIRE(std::is_nothrow_move_assignable_v<Message>);
    STATIC_REQUIRE(ToolMessage<Message>);
    STATIC_REQUIRE(HasCodec<Message>);
}

TEST_CASE("developer counts as system and function as tool", "[openai]") {
    const auto role = [](const char* json) { return message_traits<Message>::role(Message::parse(json)); };
    CHECK(role(R"({"role":"system","content":""})") == Role::system);
    CHECK(role(R"({"role":"developer","content":""})") == Role::system);
    CHECK(role(R"({"role":"user","content":""})") == Role::user);
    CHECK(role(R"({"role":"assistant","content":""})") == Role::assistant);
    CHECK(role(R"({"role":"tool","content":""})") == Role::tool);
    CHECK(role(R"({"role":"function","content":""})") == Role::tool);
}

TEST_CASE("string content is one text part, also when it is empty", "[openai]") {
    CHECK(parts(R"({"role":"user","content":"hi"})") == std::vector{text("hi")});
    CHECK(parts(R"({"role":"user","content":""})") == std::vector{text("")});
}

TEST_CASE("null, absent and empty content is no part", "[openai]") {
    CHECK(parts(R"({"role":"assistant","content":null})").empty());
    CHECK(parts(R"({"role":"assistant"})").empty());
    CHECK(parts(R"({"role":"user","content":[]})").empty());
    CHECK(parts(R"({"role":"assistant","content":null,"tool_calls":[],"refusal":null,"audio":null})").empty());
    CHECK(parts(R"({"role":"assistant","tool_calls":null,"reasoning_content":null})").empty());
}

TEST_CASE("thinking comes first, then content, then calls, then opaque members", "[openai]") {
    CHECK(parts(R"({"role":"assistant","function_call":{"name":"old"},
                    "tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\": 1}"}},
                                  {"id":"c2","type":"function","function":{"name":"cat","arguments":"not json"}}],
                    "content":"look","reasoning_content":"hm","refusal":"no","audio":{"id":"a1"}})") ==
          std::vector{Part{.kind = PartKind::thinking, .text = "hm"}, text("look"), call("c1", "ls", R"({"a": 1})"),
                      call("c2", "cat", "not json"), other("no"), other(R"({"id":"a1"})"), other(R"({"name":"old"})")});
}

TEST_CASE("arguments that are not a string are rendered", "[openai]") {
    CHECK(parts(R"({"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":{"a":[1,2]}}}]})") ==
          std::vector{call("c", "f", R"({"a":[1,2]})")});
}

TEST_CASE("incomplete and foreign calls are shown as far as they go", "[openai]") {
    CHECK(parts(R"({"role":"assistant","tool_calls":[7,{"id":"x"},{"function":{}},{"id":3,"function":{"name":null}},
                    {"id":"p","type":"custom","custom":{"name":"patch","input":"*** Begin"}}]})") ==
          std::vector{other("7"), other(R"({"id":"x"})"), call("", "", ""), call("", "", ""),
                      call("p", "patch", "*** Begin")});
}

TEST_CASE("content items are text, media or opaque", "[openai]") {
    CHECK(parts(R"({"role":"user","content":[{"type":"text","text":"a"},
                    {"type":"image_url","image_url":{"url":"https://x/y.png","detail":"low"}},
                    {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},
                    {"type":"image_url","image_url":"https://x/z.png"},
                    {"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}},
                    {"type":"file","file":{"file_data":"data:application/pdf;base64,AAAA","filename":"a.pdf"}},
                    {"type":"file","file":{"file_id":"f-1"}},
                    {"type":"refusal","refusal":"no"},{"type":"new"},"bare",{"type":"text"},{"type":"image_url"},{"type":"file"}]})") ==
          std::vector{text("a"), media("image/*", "https://x/y.png"), media("image/png", "data:image/png;base64,AAAA"),
                      media("image/*", "https://x/z.png"), media("audio/wav", "data:audio/wav;base64,AAAA"),
                      media("application/pdf", "data:application/pdf;base64,AAAA"), media("", "f-1"),
                      other(R"({"type":"refusal","refusal":"no"})"), other(R"({"type":"new"})"), other("bare"),
                      other(R"({"type":"text"})"), other(R"({"type":"image_url"})"), other(R"({"type":"file"})")});
}

TEST_CASE("images and documents of other interfaces in the list are media", "[openai]") {
    CHECK(parts(R"({"role":"user","content":[
                    {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},
                    {"type":"image","source":{"type":"url","url":"https://x/y.png"}},
                    {"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}},
                    {"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"low"},
                    {"type":"input_image","image_url":{"url":"https://x/z.png"}},
                    {"type":"image","source":7},{"type":"image","image":"AAAA"},{"type":"input_image","file_id":7}]})") ==
          std::vector{media("image/png", "data:image/png;base64,AAAA"), media("image/*", "https://x/y.png"),
                      media("application/pdf", "data:application/pdf;base64,AAAA"),
                      media("image/png", "data:image/png;base64,AAAA"), media("image/*", "https://x/z.png"),
                      other(R"({"type":"image","source":7})"), other(R"({"type":"image","image":"AAAA"})"),
                      other(R"({"type":"input_image","file_id":7})")});
    CHECK(parts(R"({"role":"tool","tool_call_id":"c1","name":"ls","content":[{"type":"text","text":"a"},
                    {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]})") ==
          std::vector{result("a"), media("image/png", "data:image/png;base64,AAAA", "c1")});
}

TEST_CASE("the text of a tool message is a result of its call", "[openai]") {
    CHECK(parts(R"({"role":"tool","content":"out","tool_call_id":"c1","name":"ls"})") == std::vector{result("out")});
    CHECK(parts(R"({"role":"tool","content":"","tool_call_id":"c1","name":"ls"})") == std::vector{result("")});
    CHECK(parts(R"({"role":"tool","tool_call_id":"c1","name":"ls","content":[{"type":"text","text":"a"},
                    {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"text","text":"b"}]})") ==
          std::vector{result("a"), media("image/png", "data:image/png;base64,AAAA", "c1"), result("b")});
}

TEST_CASE("a tool message without any text is still a result, and an empty one", "[openai]") {
    CHECK(parts(R"({"role":"tool","content":null,"tool_call_id":"c1","name":"ls"})") == std::vector{result("")});
    CHECK(parts(R"({"role":"tool","content":[],"tool_call_id":"c1","name":"ls"})") == std::vector{result("")});
    CHECK(parts(R"({"role":"tool","content":[{"type":"x"}],"tool_call_id":"c1","name":"ls"})") ==
          std::vector{other(R"({"type":"x"})"), result("")});
}

TEST_CASE("content of a type that the format does not have is opaque", "[openai]") {
    CHECK(parts(R"({"role":"user","content":{"a":1}})") == std::vector{other(R"({"a":1})")});
    CHECK(parts(R"({"role":"user","content":42})") == std::vector{other("42")});
}

TEST_CASE("an id is shown where the host keeps one, usage where it was attached", "[openai]") {
    CHECK(message_traits<Message>::id(Message::parse(R"({"role":"user","content":"x","id":"m7"})")) == "m7");
    CHECK(message_traits<Message>::id(Message::parse(R"({"role":"user","content":"x","id":7})")).empty());

    const Message plain = Message::parse(R"({"role":"assistant","content":"x"})");
    const Message billed = Message(plain).with_usage({.uncached_input = 10, .output = 2});
    CHECK(message_traits<Message>::usage(plain) == std::nullopt);
    CHECK(message_traits<Message>::usage(billed) == Usage{.uncached_input = 10, .output = 2});
    CHECK(message_traits<Message>::to_bytes(billed) == R"({"role":"assistant","content":"x"})");
    CHECK(billed == plain);
}

TEST_CASE("a made message keeps its role and is valid UTF-8", "[openai]") {
    CHECK(message_traits<Message>::make(Role::system, "be brief").json().dump() ==
          R"({"role":"system","content":"be brief"})");
    CHECK(message_traits<Message>::make(Role::tool, "").json().dump() == R"({"role":"tool","content":""})");
    CHECK(message_traits<Message>::make(Role::user, "a\xFF").json().dump() ==
          "{\"role\":\"user\",\"content\":\"a\xEF\xBF\xBD\"}");
}

TEST_CASE("each tool result becomes one tool message, in order", "[openai]") {
    const std::vector<ToolResult> results{{.call_id = "a", .tool = "ls", .parts = {text("one")}},
                                          {.call_id = "b", .tool = "", .parts = {}, .is_error = true},
                                          {.call_id = "c", .tool = "cat", .parts = {text("1"), text("2\xC3")}}};
    const auto messages = message_traits<Message>::make_tool_results(results);
    REQUIRE(messages.size() == 3);
    CHECK(messages[0].json().dump() == R"({"role":"tool","content":"one","tool_call_id":"a","name":"ls"})");
    CHECK(messages[1].json().dump() == R"({"role":"tool","content":"","tool_call_id":"b"})");
    CHECK(messages[2].json().dump() ==
          "{\"role\":\"tool\",\"content\":[{\"type\":\"text\",\"text\":\"1\"},{\"type\":\"text\",\"text\":"
          "\"2\xEF\xBF\xBD\"}],"
          "\"tool_call_id\":\"c\",\"name\":\"cat\"}");
    CHECK(message_traits<Message>::make_tool_results({}).empty());
}

TEST_CASE("media of tool results stand in one user message after all tool messages", "[openai]") {
    const auto part = [](Media value) { return Part{.kind = PartKind::media, .media = std::move(value)}; };
    const std::vector<ToolResult> results{
        {.call_id = "a",
         .tool = "shot",
         .parts = {text("see"), part({.mime = "image/png", .bytes = "\x01\x02\x03\x04"}),
                   part({.mime = "image/png", .url = "https://x/y.png"})}},
        {.call_id = "b", .tool = "ls", .parts = {text("plain")}},
        {.call_id = "c",
         .tool = "rec",
         .parts = {part({.mime = "audio/mpeg", .bytes = "abc"}), part({.mime = "application/pdf", .bytes = "a"}),
                   part({.mime = "audio/wav", .url = "https://x/s.wav"})}}};
    const auto messages = message_traits<Message>::make_tool_results(results);
    REQUIRE(messages.size() == 4);
    CHECK(messages[0].json()["content"] == "see");
    CHECK(messages[2].json()["content"] == "");
    CHECK(messages[3].json() == nlohmann::ordered_json::parse(R"({"role":"user","content":[
        {"type":"text","text":"[media of tool result a]"},
        {"type":"image_url","image_url":{"url":"data:image/png;base64,AQIDBA=="}},
        {"type":"image_url","image_url":{"url":"https://x/y.png"}},
        {"type":"text","text":"[media of tool result c]"},
        {"type":"input_audio","input_audio":{"data":"YWJj","format":"mp3"}},
        {"type":"file","file":{"filename":"result","file_data":"data:application/pdf;base64,YQ=="}},
        {"type":"text","text":"[audio/wav: https://x/s.wav]"}]})"));
}
