// What a request to the Messages API looks like, and where its cache breakpoints stand.
#include "whittle/anthropic/detail/anthropic_request.hpp"
#include "support/catch.hpp"
#include "whittle/anthropic/anthropic_wire.hpp"

#include <functional>
#include <string>
#include <vector>

using namespace whittle;
using anthropic::Message;
using anthropic::RequestBodyKind;
using nlohmann::ordered_json;

namespace {

const AnthropicModelConfig plain{.model = "m", .max_output_tokens = 64, .cache_breakpoints = 0};
const AnthropicModelConfig marked{.model = "m"};

std::vector<Message> parse_all(std::initializer_list<const char*> texts) {
    std::vector<Message> messages;
    for (const char* text : texts) messages.push_back(Message::parse(text));
    return messages;
}

std::string body_of(const std::vector<Message>& messages, const AnthropicModelConfig& config,
                    ModelRequest<Message> request = {}, RequestBodyKind kind = RequestBodyKind::whole) {
    request.messages = messages;
    return anthropic::messages_request(request, config, kind).body;
}

/// "system", "tools" and the indexes of messages that have marks, in the order of the request.
std::string marks_of(const std::string& body) {
    const ordered_json json = ordered_json::parse(body);
    const auto has_breakpoint = [](const ordered_json& value) {
        return value.dump().find("cache_control") != std::string::npos;
    };
    std::string marks;
    if (json.contains("tools") && has_breakpoint(json["tools"])) marks += "tools ";
    if (json.contains("system") && has_breakpoint(json["system"])) marks += "system ";
    for (std::size_t i = 0; i < json["messages"].size(); ++i) {
        if (has_breakpoint(json["messages"][i])) marks += std::to_string(i) + " ";
    }
    return marks;
}

const std::vector<Message> talk = parse_all({
    R"({"role":"user","content":"one"})",
    R"({"role":"assistant","content":"two"})",
    R"({"role":"user","content":"three"})",
    R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},)"
    R"({"type":"tool_use","id":"c","name":"ls","input":{}}]})",
    R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"a"}]})",
});
const std::vector<ToolSpec> tools{{.name = "ls", .parameters = R"({"type":"object"})"}};

}  // namespace

TEST_CASE("the API does not get the id of a message's marks", "[anthropic]") {
    std::vector<Message> with_ids = talk;
    for (Message& m : with_ids) message_traits<Message>::set_mark_id(m, "0123-1");
    CHECK(body_of(with_ids, plain) == body_of(talk, plain));
    CHECK(body_of(with_ids, marked) == body_of(talk, marked));
}

TEST_CASE("the system text stands beside the messages, and of these role and content are sent", "[anthropic]") {
    const auto messages = parse_all({R"({"role":"user","content":"hi","id":"local-1"})"});
    CHECK(body_of(messages, plain, {.system = "Be brief.", .tools = tools}) ==
          R"({"model":"m","max_tokens":64,"tools":[{"name":"ls","input_schema":{"type":"object"}}],)"
          R"("system":"Be brief.","messages":[{"role":"user","content":"hi"}]})");
    CHECK(body_of(messages, plain, {.system = " "}).find("system") == std::string::npos);  // the API refuses it
}

TEST_CASE("a count has no limit and no sampling", "[anthropic]") {
    AnthropicModelConfig config = plain;
    config.extra = R"({"top_p":0.5,"thinking":{"type":"adaptive"}})";
    CHECK(body_of({talk[0]}, config, {}, RequestBodyKind::count) ==
          R"({"model":"m","thinking":{"type":"adaptive"},"messages":[{"role":"user","content":"one"}]})");
    CHECK(body_of({talk[0]}, config, {}, RequestBodyKind::stream) ==
          R"({"model":"m","max_tokens":64,"stream":true,"top_p":0.5,"thinking":{"type":"adaptive"},)"
          R"("messages":[{"role":"user","content":"one"}]})");
}

TEST_CASE("four marks stand on the system text, the stable prefix, the last message and the user's before it",
          "[anthropic]") {
    const std::function<std::size_t()> two = [] { return std::size_t{2}; };
    CHECK(marks_of(body_of(talk, marked, {.system = "s", .tools = tools, .count_stable_messages = &two})) ==
          "system 1 2 4 ");
    CHECK(marks_of(body_of(talk, marked, {.tools = tools})) == "tools 2 4 ");
    AnthropicModelConfig fewer = marked;
    fewer.cache_breakpoints = 2;
    CHECK(marks_of(body_of(talk, fewer, {.system = "s", .count_stable_messages = &two})) == "system 4 ");
    const std::function<std::size_t()> none = [] { return std::size_t{0}; };
    CHECK(marks_of(body_of(talk, marked, {.system = "s", .count_stable_messages = &none})) == "system 2 4 ");
}

TEST_CASE("a request of a middleware is marked only where its prefix is said to stay", "[anthropic]") {
    const std::function<std::size_t()> two = [] { return std::size_t{2}; };
    CHECK(marks_of(body_of(talk, marked, {.system = "s", .purpose = "summary"})) == "system ");
    CHECK(marks_of(body_of(talk, marked, {.purpose = "summary", .count_stable_messages = &two})) == "1 ");
}

TEST_CASE("marks of the host stay, and ours take only the room that is left", "[anthropic]") {
    std::vector<Message> messages = talk;
    messages[0] =
        Message::parse(R"({"role":"user","content":[{"type":"text","text":"one","cache_control":{"type":"ephemeral"}},)"
                       R"({"type":"text","text":"more","cache_control":{"type":"ephemeral"}}]})");
    const std::string body = body_of(messages, marked, {.system = "s", .tools = tools});
    CHECK(marks_of(body) == "system 0 4 ");
    ordered_json rest = ordered_json::parse(body);
    std::vector<Message> sent;
    for (const auto& json : rest["messages"]) sent.emplace_back(json);
    rest.erase("messages");
    CHECK(anthropic::check_wire(sent, rest).empty());
}

TEST_CASE("no mark stands on thinking or on empty text, and the conversation itself gets none", "[anthropic]") {
    const auto messages =
        parse_all({R"({"role":"user","content":"one"})", R"({"role":"assistant","content":[{"type":"text","text":"a"},)"
                                                         R"({"type":"thinking","thinking":"hm","signature":"s"}]})"});
    CHECK(ordered_json::parse(body_of(messages, marked))["messages"].dump() ==
          R"([{"role":"user","content":[{"type":"text","text":"one","cache_control":{"type":"ephemeral"}}]},)"
          R"({"role":"assistant","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}])");
    CHECK(messages[0].json().dump() == R"({"role":"user","content":"one"})");
    AnthropicModelConfig hour = marked;
    hour.cache_lifetime = "1h";
    CHECK(body_of({talk[0]}, hour).find(R"({"type":"ephemeral","ttl":"1h"})") != std::string::npos);
}

TEST_CASE("after an edit of the prefix the provider is asked to pass over thinking that does not fit", "[anthropic]") {
    ModelRequest<Message> request{.messages = talk, .thinking_prefix_edited = true};
    AnthropicModelConfig config = plain;
    config.betas = {"a-beta"};
    const auto of_its_own = anthropic::messages_request(request, config, RequestBodyKind::whole);
    CHECK(ordered_json::parse(of_its_own.body)["thinking"].dump() ==
          R"({"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}})");
    CHECK(of_its_own.betas == std::vector<std::string>{"a-beta", "thinking-binding-controls-2026-08-01"});

    config.extra = R"({"thinking":{"type":"enabled","budget_tokens":2000}})";
    CHECK(ordered_json::parse(anthropic::messages_request(request, config, RequestBodyKind::whole).body)["thinking"]
              .dump() ==
          R"({"type":"enabled","budget_tokens":2000,"block_binding":{"prefix_mismatch_behavior":"drop_block"}})");
}

TEST_CASE("nothing is asked of the provider without an edit, without thinking, or where thinking is off",
          "[anthropic]") {
    const auto betas_of = [](std::span<const Message> messages, bool is_edited, std::string extra) {
        AnthropicModelConfig config = plain;
        config.extra = std::move(extra);
        return anthropic::messages_request({.messages = messages, .thinking_prefix_edited = is_edited}, config,
                                           RequestBodyKind::whole)
            .betas.size();
    };
    CHECK(betas_of(talk, false, "") == 0);
    CHECK(betas_of(std::span(talk).first(3), true, "") == 0);
    CHECK(betas_of(talk, true, R"({"thinking":{"type":"disabled"}})") == 0);
    CHECK(betas_of(talk, true, "") == 1);
}

TEST_CASE("all problems of an Anthropic configuration are told", "[anthropic]") {
    Problems problems;
    check_anthropic_model(
        {.base_url = "ftp://x", .max_output_tokens = 0, .cache_breakpoints = 5, .cache_lifetime = "2h", .extra = "[]"},
        "a", problems);
    CHECK(problems.all().size() == 6);
}

TEST_CASE("what the API gives but does not take back is left out of the request: blank text, replies of nothing",
          "[anthropic]") {
    const auto messages = parse_all({
        R"({"role":"user","content":"one"})",
        R"({"role":"assistant","content":[]})",
        R"({"role":"assistant","content":[{"type":"text","text":"\n\n"}]})",
        R"({"role":"assistant","content":" "})",
        R"({"role":"assistant","content":null})",
        R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":" "}]})",
        R"({"role":"assistant","content":[{"type":"text","text":"so"},{"type":"redacted_thinking","data":"d"}]})",
        R"({"role":"assistant","content":[{"type":"text","text":"\n"},{"type":"tool_use","id":"c","name":"ls","input":{}}]})",
        R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"a"}]})",
        R"({"role":"assistant","content":[]})",
    });
    const std::string body = body_of(messages, plain);
    CHECK(ordered_json::parse(body)["messages"].dump() ==
          R"([{"role":"user","content":"one"},{"role":"assistant","content":[{"type":"text","text":"so"}]},)"
          R"({"role":"assistant","content":[{"type":"tool_use","id":"c","name":"ls","input":{}}]},)"
          R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"a"}]}])");
    CHECK(marks_of(body_of(messages, marked)) == "0 3 ");
}

TEST_CASE("options of a call win over the configuration's extra fields, the call's own extra over both",
          "[anthropic]") {
    AnthropicModelConfig config = plain;
    config.extra = R"({"max_tokens":50,"temperature":0.9,"top_k":3})";
    GenerateOptions options{.max_output_tokens = 2'000, .temperature = 0.0};
    const auto sent = [&] { return ordered_json::parse(body_of(talk, config, {.options = &options})); };
    CHECK(sent()["max_tokens"] == 2'000);
    CHECK(sent()["temperature"] == 0.0);
    CHECK(sent()["top_k"] == 3);
    options.extra = R"({"max_tokens":9})";
    CHECK(sent()["max_tokens"] == 9);
    CHECK(ordered_json::parse(body_of(talk, config))["max_tokens"] == 50);
}
