// What a chat-completions request looks like for each kind of server.
#include "whittle/openai/detail/openai_request.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace whittle;
using openai::Message;

namespace {

OpenAIModelConfig config_for(std::string_view dialect) {
    OpenAIModelConfig config{.model = "m"};
    config.dialect = *openai::find_dialect(dialect);
    return config;
}

std::string body_of(const std::vector<Message>& messages, const OpenAIModelConfig& config,
                    ModelRequest<Message> request = {}, bool is_stream = false) {
    request.messages = messages;
    return openai::chat_body(request, config, is_stream);
}

ModelErrorClass refusal_of(const OpenAIModelConfig& config, ModelRequest<Message> request = {}) {
    try {
        (void)openai::chat_body(request, config, false);
    } catch (const ModelError& error) {
        return error.error_class();
    }
    FAIL("nothing was thrown");
    return {};
}

const std::vector<Message> question{Message::parse(R"({"role":"user","content":"hi"})")};

}  // namespace

TEST_CASE("a chat request has the model, the tools, and the system text in front of the messages", "[openai]") {
    const std::vector<ToolSpec> tools{{.name = "ls", .description = "lists", .parameters = R"({"type":"object"})"}};
    CHECK(body_of(question, config_for("openai"), {.system = "Be brief.", .tools = tools}) ==
          R"({"model":"m","tools":[{"type":"function","function":{"name":"ls","description":"lists",)"
          R"("parameters":{"type":"object"}}}],"messages":[{"role":"system","content":"Be brief."},)"
          R"({"role":"user","content":"hi"}]})");
}

TEST_CASE("no server gets the id of a message's marks, whatever members it takes", "[openai]") {
    std::vector<Message> marked = question;
    message_traits<Message>::set_mark_id(marked[0], "0123-1");
    for (const openai::Dialect& dialect : openai::dialects()) {
        INFO(dialect.name);
        CHECK(body_of(marked, config_for(dialect.name)) == body_of(question, config_for(dialect.name)));
    }
}

TEST_CASE("the output limit, the usage of a stream and the key have the server's names", "[openai]") {
    const GenerateOptions options{.max_output_tokens = 7, .temperature = 0.5};
    CHECK(body_of(question, config_for("openai"), {.options = &options}, true) ==
          R"({"model":"m","max_completion_tokens":7,"temperature":0.5,"stream":true,)"
          R"("stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]})");
    CHECK(
        body_of(question, config_for("compatible"), {.options = &options}, true) ==
        R"({"model":"m","max_tokens":7,"temperature":0.5,"stream":true,"messages":[{"role":"user","content":"hi"}]})");
    CHECK(config_for("azure").dialect.key_header == "api-key");
}

TEST_CASE("a server that refuses unknown members gets none, one that ignores them gets the message as it is",
          "[openai]") {
    const std::vector<Message> reply{Message::parse(
        R"({"role":"assistant","content":null,"refusal":null,"annotations":[],"reasoning_content":"hm",)"
        R"("audio":{"id":"a1","data":"AAAA","transcript":"x"},)"
        R"("tool_calls":[{"id":"c","type":"function","function":{"name":"ls","arguments":"{}"},"index":0}]})")};
    CHECK(body_of(reply, config_for("openai")) ==
          R"({"model":"m","messages":[{"role":"assistant","content":null,"refusal":null,"audio":{"id":"a1"},)"
          R"("tool_calls":[{"id":"c","type":"function","function":{"name":"ls","arguments":"{}"}}]}]})");
    CHECK(body_of(reply, config_for("vllm")) == R"({"model":"m","messages":[)" + reply[0].json().dump() + "]}");
    CHECK(body_of(reply, config_for("deepseek")).find(R"("reasoning_content":"hm")") != std::string::npos);
    CHECK(body_of(reply, config_for("compatible")).find(R"("content":"")") != std::string::npos);
}

TEST_CASE("a tool's name and empty calls, which replies have, are not sent to a strict server", "[openai]") {
    const std::vector<Message> messages{
        Message::parse(R"({"role":"assistant","content":"x","tool_calls":[]})"),
        Message::parse(R"({"role":"tool","tool_call_id":"c","name":"ls","content":"a"})"),
        Message::parse(R"({"role":"user","name":"ann","content":"b"})")};
    CHECK(body_of(messages, config_for("openai")) ==
          R"({"model":"m","messages":[{"role":"assistant","content":"x"},)"
          R"({"role":"tool","tool_call_id":"c","content":"a"},{"role":"user","name":"ann","content":"b"}]})");
}

TEST_CASE("extra fields of a call win over those of the configuration, and tools are joined", "[openai]") {
    OpenAIModelConfig config = config_for("openai");
    config.extra = R"({"seed":1,"top_p":0.5,"tools":[{"type":"custom"}]})";
    const GenerateOptions options{.extra = R"({"seed":2,"tools":[{"type":"web"}]})"};
    const std::vector<ToolSpec> tools{{.name = "ls", .parameters = "{}"}};
    CHECK(body_of(question, config, {.tools = tools, .options = &options}) ==
          R"({"model":"m","seed":2,"top_p":0.5,"tools":[{"type":"function","function":{"name":"ls","parameters":{}}},)"
          R"({"type":"custom"},{"type":"web"}],"messages":[{"role":"user","content":"hi"}]})");
}

TEST_CASE("extra fields that are no object or that set the messages, and parameters that are no object, are refused",
          "[openai]") {
    for (const char* extra : {"[1]", "{", R"({"messages":[]})", R"({"stream":true})", R"({"tools":1})"}) {
        const GenerateOptions options{.extra = extra};
        CHECK(refusal_of(config_for("openai"), {.options = &options}) == ModelErrorClass::bad_request);
    }
    const std::vector<ToolSpec> tools{{.name = "ls", .parameters = "[]"}};
    CHECK(refusal_of(config_for("openai"), {.tools = tools}) == ModelErrorClass::bad_request);
}

TEST_CASE("text that is not UTF-8 is sent with replacement characters", "[openai]") {
    const std::vector<Message> messages{
        message_traits<Message>::from_bytes(R"({"bytes_as_code_points":{"role":"user","content":")"
                                            "\xC3\xBF"
                                            R"("}})")};
    CHECK(body_of(messages, config_for("openai")) ==
          "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"\xEF\xBF\xBD\"}]}");
}

TEST_CASE("all problems of a configuration are told, and no value that may be a secret", "[openai]") {
    Problems problems;
    check_openai_model({.base_url = "sk-secret", .max_output_tokens = -1, .extra = "sk-secret"}, "models.a", problems);
    REQUIRE(problems.all().size() == 4);
    CHECK(problems.all()[0].field == "models.a.model");
    for (const Problem& problem : problems.all()) CHECK(to_string(problem).find("sk-secret") == std::string::npos);
}

TEST_CASE("options of a call win over the configuration's extra fields, and there is one output limit", "[openai]") {
    OpenAIModelConfig config = config_for("openai");
    config.extra = R"({"max_tokens":50,"temperature":0.9})";
    GenerateOptions options{.max_output_tokens = 2'000, .temperature = 0.0};
    const auto sent = [&] { return body_of(question, config, {.options = &options}); };
    CHECK(
        sent() ==
        R"({"model":"m","max_completion_tokens":2000,"temperature":0.0,"messages":[{"role":"user","content":"hi"}]})");
    options.extra = R"({"max_tokens":9})";
    CHECK(sent() == R"({"model":"m","temperature":0.0,"max_tokens":9,"messages":[{"role":"user","content":"hi"}]})");
    config.max_output_tokens = 7;
    CHECK(body_of(question, config) ==
          R"({"model":"m","max_tokens":50,"temperature":0.9,"messages":[{"role":"user","content":"hi"}]})");
}

TEST_CASE("a reply of nothing goes back with empty text, which every server takes", "[openai]") {
    const std::vector<Message> silent{Message::parse(R"({"role":"assistant","content":null})")};
    CHECK(body_of(silent, config_for("openai")) == R"({"model":"m","messages":[{"role":"assistant","content":""}]})");
    const std::vector<Message> refused{Message::parse(R"({"role":"assistant","content":null,"refusal":"no"})")};
    CHECK(body_of(refused, config_for("openai")).find(R"("content":null)") != std::string::npos);
}

TEST_CASE("a dialect whose server wants turns gets what the user says in a row as one message", "[openai]") {
    const std::vector<Message> messages{Message::parse(R"({"role":"user","content":"one"})"),
                                        Message::parse(R"({"role":"user","content":"two"})"),
                                        Message::parse(R"({"role":"user","content":[{"type":"text","text":"three"}]})"),
                                        Message::parse(R"({"role":"assistant","content":"yes"})"),
                                        Message::parse(R"({"role":"user","content":"four"})")};
    const std::string merged =
        R"("messages":[{"role":"user","content":[{"type":"text","text":"one\n\ntwo"},{"type":"text","text":"three"}]},)"
        R"({"role":"assistant","content":"yes"},{"role":"user","content":"four"}])";
    for (const char* dialect : {"mistral", "compatible"})
        CHECK(body_of(messages, config_for(dialect)).find(merged) != std::string::npos);
    CHECK(body_of(messages, config_for("openai")).find(R"({"role":"user","content":"two"})") != std::string::npos);
}
