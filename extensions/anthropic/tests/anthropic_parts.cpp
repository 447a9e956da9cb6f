#include "support/catch.hpp"
#include "whittle/anthropic/anthropic.hpp"
#include "whittle/message/chat_message.hpp"
#include "whittle/message/outline.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <type_traits>
#include <vector>

using namespace whittle;
using anthropic::Message;
using Json = nlohmann::ordered_json;

namespace {

Part text(std::string value) { return {.kind = PartKind::text, .text = std::move(value)}; }
Part thinking(std::string value) { return {.kind = PartKind::thinking, .text = std::move(value)}; }
Part result(std::string value, bool is_error = false) {
    return {.kind = PartKind::tool_result, .text = std::move(value), .call_id = "c1", .is_error = is_error};
}
Part call(std::string id, std::string tool, std::string arguments) {
    return {
        .kind = PartKind::tool_call, .text = std::move(arguments), .call_id = std::move(id), .tool = std::move(tool)};
}
Part linked(std::string mime, std::string url, std::string call_id = "") {
    return {.kind = PartKind::media,
            .call_id = std::move(call_id),
            .media = {.mime = std::move(mime), .url = std::move(url)}};
}
Part bytes(std::string mime, std::string content) {
    return {.kind = PartKind::media, .media = {.mime = std::move(mime), .bytes = std::move(content)}};
}
Part other(std::string value, std::string call_id = "") {
    return {.kind = PartKind::other, .text = std::move(value), .call_id = std::move(call_id)};
}

std::vector<Part> parts(const char* json) { return parts_of(Message::parse(json)); }

/// The parts of a user message with one tool result of that content.
std::vector<Part> parts_of_result(const std::string& content) {
    return parts_of(Message::parse(R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c1")" +
                                   (content.empty() ? "" : R"(,"content":)" + content) + "}]}"));
}

Part media_part(Media value) { return {.kind = PartKind::media, .media = std::move(value)}; }

}  // namespace

TEST_CASE("an Anthropic message moves without throwing and is copyable", "[anthropic]") {
    STATIC_REQUIRE(std::is_nothrow_move_constructible_v<Message>);
    STATIC_REQUIRE(std::is_nothrow_move_assignable_v<Message>);
    STATIC_REQUIRE(ToolMessage<Message>);
    STATIC_REQUIRE(HasCodec<Message>);
}

TEST_CASE("roles are user, assistant and, between turns, system", "[anthropic]") {
    const auto role = [](const char* json) { return message_traits<Message>::role(Message::parse(json)); };
    CHECK(role(R"({"role":"user","content":""})") == Role::user);
    CHECK(role(R"({"role":"assistant","content":""})") == Role::assistant);
    CHECK(role(R"({"role":"system","content":"","clear_at":"next_user_message"})") == Role::system);
    CHECK(role(R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]})") == Role::user);
}

TEST_CASE("Anthropic string content is one text part, and no content is none", "[anthropic]") {
    CHECK(parts(R"({"role":"user","content":"hi"})") == std::vector{text("hi")});
    CHECK(parts(R"({"role":"user","content":""})") == std::vector{text("")});
    CHECK(parts(R"({"role":"user","content":[]})").empty());
    CHECK(parts(R"({"role":"user","content":null})").empty());
    CHECK(parts(R"({"role":"user"})").empty());
    CHECK(parts(R"({"role":"user","content":{"a":1}})") == std::vector{other(R"({"a":1})")});
}

TEST_CASE("the blocks of a reply are thinking, text and calls in their order", "[anthropic]") {
    CHECK(parts(R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"S"},
                    {"type":"redacted_thinking","data":"opaque"},{"type":"text","text":"look","citations":null},
                    {"type":"tool_use","id":"a","name":"ls","input":{"path":"/","deep":{"x":[1,2.0]}}},
                    {"type":"tool_use","id":"b","name":"pwd","input":{}}]})") ==
          std::vector{thinking("hm"), thinking(""), text("look"),
                      call("a", "ls", R"({"path":"/","deep":{"x":[1,2.0]}})"), call("b", "pwd", "{}")});
}

TEST_CASE("calls without an object are shown as they are", "[anthropic]") {
    CHECK(parts(R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"ls"},
                    {"type":"tool_use","id":7,"input":"text"},{"type":"tool_use","input":null}]})") ==
          std::vector{call("a", "ls", ""), call("", "", R"("text")"), call("", "", "null")});
}

TEST_CASE("images and documents show their source", "[anthropic]") {
    CHECK(parts(R"({"role":"user","content":[
                    {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},
                    {"type":"image","source":{"type":"url","url":"https://x/y.png"}},
                    {"type":"image","source":{"type":"file","file_id":"file_1"}},
                    {"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}},
                    {"type":"document","source":{"type":"text","media_type":"text/plain","data":"plain"}},
                    {"type":"document","source":{"type":"content","content":"plain"}},
                    {"type":"document","source":{"type":"content","content":[{"type":"text","text":"t"}]},"title":"T"},
                    {"type":"document","source":{"type":"url","url":"https://x/y.pdf"}}]})") ==
          std::vector{linked("image/png", "data:image/png;base64,AAAA"), linked("image/*", "https://x/y.png"),
                      linked("image/*", "file_1"), linked("application/pdf", "data:application/pdf;base64,AAAA"),
                      bytes("text/plain", "plain"), bytes("text/plain", "plain"),
                      bytes("application/json", R"([{"type":"text","text":"t"}])"),
                      linked("application/*", "https://x/y.pdf")});
}

TEST_CASE("server tools, MCP, compaction and unknown blocks are opaque", "[anthropic]") {
    for (const char* block :
         {R"({"type":"server_tool_use","id":"srv","name":"web_search","input":{"query":"q"}})",
          R"({"type":"web_search_tool_result","tool_use_id":"srv","content":[{"url":"u","encrypted_content":"e"}]})",
          R"({"type":"mcp_tool_use","id":"m","name":"n","server_name":"s","input":{}})",
          R"({"type":"mcp_tool_result","tool_use_id":"m","is_error":false,"content":[{"type":"text","text":"t"}]})",
          R"({"type":"compaction","content":null})", R"({"type":"compaction","content":"sum","signature":"S"})",
          R"({"type":"container_upload","file_id":"f"})", R"({"type":"search_result","source":"s","title":"t"})",
          R"({"type":"of next year","data":{"b":1,"a":2}})", R"({"type":"text"})", R"({"type":"text","text":7})",
          R"({"type":"image"})", R"({"type":"image","source":{"type":"new"}})", R"({"type":"thinking"})", R"({})",
          R"([1])", "7", "null"}) {
        const std::string json = std::string(R"({"role":"assistant","content":[)") + block + "]}";
        CHECK(parts(json.c_str()) == std::vector{other(block)});
        CHECK(Message::parse(json).json().dump() == json);
    }
}

TEST_CASE("each text of a tool result is a part of that result", "[anthropic]") {
    CHECK(parts_of_result(R"("out")") == std::vector{result("out")});
    CHECK(parts_of_result(R"("")") == std::vector{result("")});
    CHECK(parts_of_result(R"([{"type":"text","text":"a"},{"type":"text","text":"b"}])") ==
          std::vector{result("a"), result("b")});
    CHECK(
        parts_of_result(R"([{"type":"image","source":{"type":"url","url":"https://x"}},{"type":"text","text":"b"}])") ==
        std::vector{linked("image/*", "https://x", "c1"), result("b")});
    CHECK(parts_of_result(R"([{"type":"image","source":{"type":"url","url":"https://x"}}])") ==
          std::vector{linked("image/*", "https://x", "c1"), result("")});
}

TEST_CASE("a tool result that shows nothing is still a result, and an empty one", "[anthropic]") {
    CHECK(parts_of_result("") == std::vector{result("")});
    CHECK(parts_of_result("null") == std::vector{result("")});
    CHECK(parts_of_result("[]") == std::vector{result("")});
    CHECK(parts_of_result(R"([{"type":"search_result"}])") ==
          std::vector{other(R"({"type":"search_result"})", "c1"), result("")});
    CHECK(parts_of_result(R"({"a":1})") == std::vector{other(R"({"a":1})", "c1"), result("")});
}

TEST_CASE("results of parallel calls and the user's own text are parts of one message", "[anthropic]") {
    const Message m = Message::parse(R"({"role":"user","content":[
        {"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"1"},{"type":"text","text":"2"}]},
        {"type":"tool_result","tool_use_id":"b","is_error":true},
        {"type":"text","text":"and now?"}]})");
    const std::vector<Part> all = parts_of(m);
    REQUIRE(all.size() == 4);
    CHECK(all[1] == Part{.kind = PartKind::tool_result, .text = "2", .call_id = "a"});
    CHECK(all[2] == Part{.kind = PartKind::tool_result, .call_id = "b", .is_error = true});
    CHECK(all[3] == text("and now?"));
    CHECK_FALSE(message_traits<Message>::is_error(m, 1));
    CHECK(message_traits<Message>::is_error(m, 2));
    CHECK_FALSE(message_traits<Message>::is_error(m, 3));
    CHECK_FALSE(message_traits<Message>::is_error(m, 9));
}

TEST_CASE("a message with results and user text belongs to the round of its calls", "[anthropic]") {
    const std::vector<Message> history{
        Message::parse(R"({"role":"user","content":"go"})"),
        Message::parse(R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"ls","input":{}},
                           {"type":"tool_use","id":"b","name":"cat","input":{}}]})"),
        Message::parse(R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"2"},
                           {"type":"tool_result","tool_use_id":"a","content":"1"},{"type":"text","text":"more"}]})")};
    std::vector<MessageInfo> infos;
    for (const Message& m : history) infos.push_back(describe(m));
    for (std::size_t i = 0; i < infos.size(); ++i) infos[i].serial = i + 1;
    link_rounds(infos);
    CHECK(infos[2].round_serial == 2);
    CHECK(infos[2].parts[0].tool == "cat");
    CHECK(infos[2].parts[1].tool == "ls");
}

TEST_CASE("a made Anthropic message keeps its role, but tools speak as the user", "[anthropic]") {
    using WireTraits = message_traits<Message>;
    CHECK(WireTraits::make(Role::system, "be brief").json().dump() == R"({"role":"system","content":"be brief"})");
    CHECK(WireTraits::make(Role::assistant, "yes").json().dump() == R"({"role":"assistant","content":"yes"})");
    CHECK(WireTraits::make(Role::tool, "x").json().dump() == R"({"role":"user","content":"x"})");
    CHECK(WireTraits::make(Role::user, "a\xFF").json().dump() == "{\"role\":\"user\",\"content\":\"a\xEF\xBF\xBD\"}");
}

TEST_CASE("all results of one turn become one user message, in order", "[anthropic]") {
    const std::vector<ToolResult> results{
        {.call_id = "a", .tool = "ls", .parts = {text("one")}},
        {.call_id = "b", .tool = "rm", .parts = {}, .is_error = true},
        {.call_id = "c", .tool = "cat", .parts = {text("1"), text(""), text("2\xC3")}}};
    const auto messages = message_traits<Message>::make_tool_results(results);
    REQUIRE(messages.size() == 1);
    CHECK(messages[0].json() == Json::parse("{\"role\":\"user\",\"content\":["
                                            R"({"type":"tool_result","tool_use_id":"a","content":"one"},)"
                                            R"({"type":"tool_result","tool_use_id":"b","content":"","is_error":true},)"
                                            R"({"type":"tool_result","tool_use_id":"c","content":[)"
                                            R"({"type":"text","text":"1"},{"type":"text","text":"2)"
                                            "\xEF\xBF\xBD\"}]}]}"));
    CHECK(message_traits<Message>::make_tool_results({}).empty());
}

TEST_CASE("media stay inside their Anthropic tool result", "[anthropic]") {
    const std::vector<ToolResult> results{
        {.call_id = "a",
         .tool = "shot",
         .parts = {text("see"), media_part({.mime = "image/png", .bytes = "\x01\x02\x03\x04"}),
                   media_part({.mime = "image/png", .url = "https://x/y.png"}),
                   media_part({.mime = "image/*", .url = "file_1"}),
                   media_part({.mime = "", .url = "data:image/gif;base64,R0lG"}),
                   media_part({.mime = "application/pdf", .bytes = "a"}),
                   media_part({.mime = "text/csv", .bytes = "a,b"})}}};
    const auto messages = message_traits<Message>::make_tool_results(results);
    REQUIRE(messages.size() == 1);
    CHECK(messages[0].json()["content"][0]["content"] == Json::parse(R"([{"type":"text","text":"see"},
        {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQIDBA=="}},
        {"type":"image","source":{"type":"url","url":"https://x/y.png"}},
        {"type":"image","source":{"type":"file","file_id":"file_1"}},
        {"type":"image","source":{"type":"base64","media_type":"image/gif","data":"R0lG"}},
        {"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"YQ=="}},
        {"type":"document","source":{"type":"text","media_type":"text/plain","data":"a,b"}}])"));
    CHECK(messages[0].json()["content"].size() == 1);
}

TEST_CASE("a blank text beside other parts of an Anthropic result is left out, alone it stays", "[anthropic]") {
    const Part shot = media_part({.mime = "image/png", .url = "https://x/y.png"});
    const std::vector<ToolResult> results{{.call_id = "a", .tool = "shot", .parts = {text("\n"), shot}},
                                          {.call_id = "b", .tool = "cat", .parts = {text(" "), text("x")}},
                                          {.call_id = "c", .tool = "cat", .parts = {text("\n")}}};
    const auto messages = message_traits<Message>::make_tool_results(results);
    REQUIRE(messages.size() == 1);
    const Json& content = messages[0].json()["content"];
    CHECK(content[0]["content"] ==
          Json::parse(R"([{"type":"image","source":{"type":"url","url":"https://x/y.png"}}])"));
    CHECK(content[1]["content"] == "x");
    CHECK(content[2]["content"] == "\n");
}

TEST_CASE("media that the format cannot hold are named behind the results", "[anthropic]") {
    const std::vector<ToolResult> results{
        {.call_id = "a",
         .tool = "rec",
         .parts = {media_part({.mime = "audio/wav", .url = "https://x/s.wav"}), text("heard"),
                   media_part({.mime = "audio/wav", .bytes = "abc"})}}};
    const auto messages = message_traits<Message>::make_tool_results(results);
    REQUIRE(messages.size() == 1);
    CHECK(messages[0].json()["content"] == Json::parse(R"([
        {"type":"tool_result","tool_use_id":"a","content":"heard"},
        {"type":"text","text":"[media of tool result a]"},
        {"type":"text","text":"[audio/wav: https://x/s.wav]"},
        {"type":"text","text":"[audio/wav: 3 bytes that this format cannot hold]"}])"));
}

TEST_CASE("media of failed tools follow the results, since those may hold only text", "[anthropic]") {
    const std::vector<ToolResult> results{
        {.call_id = "a",
         .tool = "shot",
         .parts = {text("failed"), media_part({.mime = "image/png", .url = "https://x/y.png"})},
         .is_error = true},
        {.call_id = "b", .tool = "ls", .parts = {text("ok")}}};
    const auto messages = message_traits<Message>::make_tool_results(results);
    REQUIRE(messages.size() == 1);
    CHECK(messages[0].json()["content"] == Json::parse(R"([
        {"type":"tool_result","tool_use_id":"a","content":"failed","is_error":true},
        {"type":"tool_result","tool_use_id":"b","content":"ok"},
        {"type":"text","text":"[media of tool result a]"},
        {"type":"image","source":{"type":"url","url":"https://x/y.png"}}])"));
}

TEST_CASE("a response gives its role, content and usage, and nothing that may not be sent back", "[anthropic]") {
    const Message m = Message::from_response(Json::parse(R"({"id":"msg_1","type":"message","role":"assistant",
        "model":"m","stop_reason":"end_turn","content":[{"type":"text","text":"hi"}],
        "usage":{"input_tokens":10,"cache_read_input_tokens":200,"cache_creation_input_tokens":30,"output_tokens":4,
                 "server_tool_use":null}})"));
    CHECK(m.json().dump() == R"({"role":"assistant","content":[{"type":"text","text":"hi"}]})");
    REQUIRE(message_traits<Message>::usage(m));
    CHECK(*m.usage() == Usage{.uncached_input = 10, .cache_read = 200, .cache_write = 30, .output = 4});
    CHECK(m.usage()->total() == 244);
    CHECK_THROWS_AS(Message::from_response(Json::parse(R"({"type":"error","error":{}})")), Error);
}

TEST_CASE("usage of several server-side steps is that of the newest, not their sum", "[anthropic]") {
    const auto usage = anthropic::usage_of(Json::parse(
        R"({"input_tokens":300,"output_tokens":30,"iterations":[{"type":"message","input_tokens":100,"output_tokens":10},
            {"type":"message","input_tokens":200,"cache_read_input_tokens":5,"output_tokens":20},
            {"type":"compaction","input_tokens":7,"output_tokens":7}]})"));
    CHECK(usage == Usage{.uncached_input = 200, .cache_read = 5, .output = 20});
}

TEST_CASE("how long what was written to the cache lives is part of the usage", "[anthropic]") {
    const auto usage_of = [](const std::string& by_age) {
        return anthropic::usage_of(
            Json::parse(R"({"input_tokens":1,"cache_creation_input_tokens":9,"cache_creation":)" + by_age + "}"));
    };
    CHECK(usage_of(R"({"ephemeral_5m_input_tokens":2,"ephemeral_1h_input_tokens":7})") == Usage{1, 0, 9, 0, 2, 7});
    CHECK(usage_of(R"({"ephemeral_5m_input_tokens":9,"ephemeral_1h_input_tokens":90})") == Usage{1, 0, 9, 0, 0, 9});
    CHECK(usage_of("null") == Usage{1, 0, 9, 0});
}

TEST_CASE("usage counts that are missing, negative or no numbers are 0", "[anthropic]") {
    CHECK(anthropic::usage_of(Json::parse(R"({"input_tokens":-1,"output_tokens":18446744073709551615,
        "cache_read_input_tokens":null,"cache_creation_input_tokens":1.5,"iterations":[]})")) == Usage{});
    CHECK(anthropic::usage_of(Json::parse("null")) == std::nullopt);
    const Message plain = Message::parse(R"({"role":"assistant","content":"x"})");
    CHECK(message_traits<Message>::usage(plain) == std::nullopt);
    CHECK(Message(plain).with_usage({.uncached_input = 1}) == plain);
}

TEST_CASE("an id is shown where the host keeps one in the Anthropic message", "[anthropic]") {
    CHECK(message_traits<Message>::id(Message::parse(R"({"id":"msg_7","role":"assistant","content":"x"})")) == "msg_7");
    CHECK(message_traits<Message>::id(Message::parse(R"({"id":7,"role":"assistant","content":"x"})")).empty());
}
