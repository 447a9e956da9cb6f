// The Messages API over a scripted transport: what comes back, whole and streamed.
#include "whittle/anthropic/detail/anthropic_stream.hpp"
#include "support/catch.hpp"
#include "support/errc_of.hpp"
#include "support/failure_of.hpp"
#include "support/scripted_transport.hpp"
#include "whittle/anthropic/anthropic_model.hpp"

#include <memory>
#include <string>
#include <tuple>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using anthropic::Message;

namespace {

const Message question = Message::parse(R"({"role":"user","content":"hi"})");

std::shared_ptr<ScriptedTransport> transport_of(ScriptedAnswer answer) {
    return std::make_shared<ScriptedTransport>(std::move(answer));
}

Reply<Message> ask(const std::shared_ptr<HttpTransport>& transport, const DeltaSink* on_delta = nullptr) {
    AnthropicModel model(transport, {.model = "m", .api_key = "sk-secret", .cache_breakpoints = 0});
    return model.generate({.messages = {&question, 1}, .on_delta = on_delta});
}

Reply<Message> call_streaming(ScriptedAnswer answer) {
    const DeltaSink ignore = [](const Delta&) {};
    return ask(transport_of(std::move(answer)), &ignore);
}

std::string event(const std::string& type, const std::string& members = "") {
    return "event: " + type + "\ndata: {\"type\":\"" + type + "\"" + (members.empty() ? "" : ",") + members + "}\n\n";
}
std::string start_block(int index, const std::string& block) {
    return event("content_block_start", "\"index\":" + std::to_string(index) + ",\"content_block\":" + block);
}
std::string add(int index, const std::string& delta) {
    return event("content_block_delta", "\"index\":" + std::to_string(index) + ",\"delta\":" + delta);
}
std::string stop_block(int index) { return event("content_block_stop", "\"index\":" + std::to_string(index)); }
std::string end_with(const std::string& reason) {
    return event("message_delta",
                 R"("delta":{"stop_reason":")" + reason + R"(","stop_sequence":null},"usage":{"output_tokens":9})") +
           event("message_stop");
}

const std::string begin =
    event("message_start",
          R"("message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,)"
          R"("usage":{"input_tokens":10,"cache_read_input_tokens":100,"cache_creation_input_tokens":50,)"
          R"("output_tokens":1}})");

// Thinking with its signature, text with a citation and a character of four bytes, a call whose input comes in pieces,
// a call of the server's own, a block and a delta that nobody knows.
const std::string rich_stream =
    begin + event("ping") + start_block(0, R"({"type":"thinking","thinking":"","signature":""})") +
    add(0, R"({"type":"thinking_delta","thinking":"let me "})") +
    add(0, R"({"type":"thinking_delta","thinking":"see"})") +
    add(0, R"({"type":"signature_delta","signature":"c2ln"})") + stop_block(0) +
    start_block(1, R"({"type":"text","text":"","citations":null})") +
    add(1, "{\"type\":\"text_delta\",\"text\":\"\xF0\x9F\x98\x80 ok\"}") +
    add(1, R"({"type":"citations_delta","citation":{"type":"char_location","cited_text":"x"}})") + stop_block(1) +
    start_block(2, R"({"type":"tool_use","id":"t1","name":"ls","input":{},"caller":{"type":"direct"}})") +
    add(2, R"({"type":"input_json_delta","partial_json":""})") +
    add(2, R"({"type":"input_json_delta","partial_json":"{\"path\": \"a"})") +
    add(2, R"({"type":"input_json_delta","partial_json":"\"}"})") + stop_block(2) +
    start_block(3, R"({"type":"server_tool_use","id":"s1","name":"web_search","input":{}})") +
    add(3, R"({"type":"input_json_delta","partial_json":"{\"query\":\"q\"}"})") + stop_block(3) +
    event("brand_new_event", R"("index":3)") + start_block(4, R"({"type":"poem","lines":"roses "})") +
    add(4, R"({"type":"poem_delta","lines":"are red"})") + stop_block(4) + end_with("tool_use");

const char* const rich_message =
    R"({"role":"assistant","content":[{"type":"thinking","thinking":"let me see","signature":"c2ln"},)"
    R"({"type":"text","text":"😀 ok","citations":[{"type":"char_location","cited_text":"x"}]},)"
    R"({"type":"tool_use","id":"t1","name":"ls","input":{"path":"a"},"caller":{"type":"direct"}},)"
    R"({"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"q"}},)"
    R"({"type":"poem","lines":"roses are red"}]})";

}  // namespace

TEST_CASE("a stream of the Messages API cut anywhere gives the same whole message", "[anthropic]") {
    for (std::size_t cut = 0; cut <= rich_stream.size(); ++cut) {
        ScriptedAnswer answer = answer_events(rich_stream);
        answer.cuts = {cut};
        const Reply<Message> reply = call_streaming(std::move(answer));
        if (reply.message.json().dump() != rich_message) FAIL(cut << ": " << reply.message.json().dump());
        if (reply.finish != FinishReason::tool_calls) FAIL(cut);
        if (reply.usage != Usage{.uncached_input = 10, .cache_read = 100, .cache_write = 50, .output = 9}) FAIL(cut);
    }
    ScriptedAnswer bytes = answer_events(rich_stream);
    for (std::size_t i = 1; i < rich_stream.size(); ++i) bytes.cuts.push_back(i);
    CHECK(call_streaming(std::move(bytes)).message.json().dump() == rich_message);
}

TEST_CASE("a listener gets thinking, text and input as they come", "[anthropic]") {
    std::vector<std::tuple<Delta::Kind, std::string, std::string, std::string>> got;
    const DeltaSink listen = [&](const Delta& delta) {
        got.emplace_back(delta.kind, delta.text, delta.call_id, delta.tool);
    };
    (void)ask(transport_of(answer_events(rich_stream)), &listen);
    using Kind = Delta::Kind;
    const decltype(got) expected{{Kind::thinking, "let me ", "", ""},
                                 {Kind::thinking, "see", "", ""},
                                 {Kind::text, "😀 ok", "", ""},
                                 {Kind::tool_arguments, "{\"path\": \"a", "t1", "ls"},
                                 {Kind::tool_arguments, "\"}", "t1", "ls"},
                                 {Kind::tool_arguments, "{\"query\":\"q\"}", "s1", "web_search"}};
    CHECK(got == expected);
}

TEST_CASE("a request to the Messages API has its version, key and betas", "[anthropic]") {
    const std::string body = R"({"role":"assistant","content":[{"type":"text","text":"yo"}],"stop_reason":"end_turn",)"
                             R"("usage":{"input_tokens":3,"output_tokens":1}})";
    const auto transport = transport_of(answer_json(body));
    AnthropicModelConfig config{.model = "m", .api_key = "k", .betas = {"a", "b"}};
    const Reply<Message> reply = AnthropicModel(transport, config).generate({.messages = {&question, 1}});
    CHECK(text_of(reply.message) == "yo");
    CHECK(reply.finish == FinishReason::stop);
    CHECK(transport->requests()[0].url == "https://api.anthropic.com/v1/messages");
    CHECK(transport->header("x-api-key") == "k");
    CHECK(transport->header("anthropic-version") == "2023-06-01");
    CHECK(transport->header("anthropic-beta") == "a,b");

    const auto other = transport_of(answer_json(R"({"input_tokens":12})"));
    config.base_url = "http://localhost:8080/v1/";
    CHECK(AnthropicModel(other, config).count_tokens({.messages = {&question, 1}}) == 12);
    CHECK(other->requests()[0].url == "http://localhost:8080/v1/messages/count_tokens");
}

TEST_CASE("stop reasons become finish reasons, and a full window an overflow", "[anthropic]") {
    const auto finish_of = [](const std::string& reason) {
        return anthropic::messages_reply(
                   R"({"role":"assistant","content":[],"stop_reason":")" + reason +
                   R"(","usage":{"input_tokens":90,"cache_read_input_tokens":10,"output_tokens":5}})")
            .finish;
    };
    CHECK(finish_of("end_turn") == FinishReason::stop);
    CHECK(finish_of("stop_sequence") == FinishReason::stop);
    CHECK(finish_of("max_tokens") == FinishReason::length);
    CHECK(finish_of("tool_use") == FinishReason::tool_calls);
    CHECK(finish_of("refusal") == FinishReason::refusal);
    CHECK(finish_of("pause_turn") == FinishReason::paused);
    const ModelError full = failure_of([&] { return finish_of("model_context_window_exceeded"); });
    CHECK(full.error_class() == ModelErrorClass::overflow);
    CHECK(full.overflow().requested_tokens == 105);
}

TEST_CASE("an error event after a 200 is that error, and no message comes back", "[anthropic]") {
    const std::string begun =
        begin + start_block(0, R"({"type":"text","text":""})") + add(0, R"({"type":"text_delta","text":"half"})");
    const ModelError overloaded = failure_of([&] {
        return call_streaming(
            answer_events(begun + event("error", R"("error":{"type":"overloaded_error","message":"Overloaded"})")));
    });
    CHECK(overloaded.error_class() == ModelErrorClass::server);
    CHECK(failure_of([&] { return call_streaming(answer_events(begun)); }).error_class() == ModelErrorClass::transport);
    CHECK(failure_of([&] { return call_streaming(answer_events("")); }).error_class() == ModelErrorClass::transport);
}

TEST_CASE("events out of order are an error of the server", "[anthropic]") {
    const std::string text = R"({"type":"text","text":""})";
    for (const std::string& stream :
         {event("message_stop"), begin + begin, begin + add(0, R"({"type":"text_delta","text":"x"})"),
          begin + start_block(0, text) + start_block(0, text),
          begin + start_block(0, text) + stop_block(0) + add(0, R"({"type":"text_delta","text":"x"})"),
          begin + event("message_stop"), begin + event("content_block_stop"), std::string("data: [1]\n\n")}) {
        CHECK(failure_of([&] { return call_streaming(answer_events(stream)); }).error_class() ==
              ModelErrorClass::server);
    }
}

TEST_CASE("a call that the output limit cut off is left out, and never made by halves", "[anthropic]") {
    const std::string begun = begin + start_block(0, R"({"type":"text","text":"I look"})") + stop_block(0) +
                              start_block(1, R"({"type":"tool_use","id":"t","name":"rm","input":{}})") +
                              add(1, R"({"type":"input_json_delta","partial_json":"{\"path\":\"/ho"})") + stop_block(1);
    const Reply<Message> reply = call_streaming(answer_events(begun + end_with("max_tokens")));
    CHECK(reply.message.json().dump() == R"({"role":"assistant","content":[{"type":"text","text":"I look"}]})");
    CHECK(reply.finish == FinishReason::length);
    CHECK(failure_of([&] { return call_streaming(answer_events(begun + end_with("tool_use"))); }).error_class() ==
          ModelErrorClass::server);
}

TEST_CASE("a full window in the middle of a call is an overflow, and a refusal there a reply", "[anthropic]") {
    const std::string begun = begin + start_block(0, R"({"type":"tool_use","id":"t","name":"rm","input":{}})") +
                              add(0, R"({"type":"input_json_delta","partial_json":"{\"path\":\"/ho"})") + stop_block(0);
    const ModelError full =
        failure_of([&] { return call_streaming(answer_events(begun + end_with("model_context_window_exceeded"))); });
    CHECK(full.error_class() == ModelErrorClass::overflow);
    CHECK(full.overflow().requested_tokens == 169);
    const Reply<Message> refused = call_streaming(answer_events(begun + end_with("refusal")));
    CHECK(refused.finish == FinishReason::refusal);
    CHECK(refused.message.json()["content"].empty());
}

TEST_CASE("refusals of the Messages API have their class, and keys are blotted out", "[anthropic]") {
    const auto refuse = [](int status, std::string type, std::string message) {
        ScriptedAnswer answer = answer_json(R"({"type":"error","error":{"type":")" + type + R"(","message":")" +
                                                message + R"("},"request_id":"req_7"})",
                                            status);
        answer.headers.emplace_back("Retry-After", "3");
        return failure_of([&] { return ask(transport_of(answer)); });
    };
    const ModelError full = refuse(400, "invalid_request_error", "prompt is too long: 213462 tokens > 200000 maximum");
    CHECK(full.error_class() == ModelErrorClass::overflow);
    CHECK(full.overflow().context_limit_tokens == 200'000);
    CHECK(refuse(429, "rate_limit_error", "slow down").retry_after() == std::chrono::seconds(3));
    CHECK(refuse(529, "overloaded_error", "Overloaded").error_class() == ModelErrorClass::server);
    const ModelError auth = refuse(401, "authentication_error", "invalid x-api-key sk-secret");
    CHECK(std::string(auth.what()).find("sk-secret") == std::string::npos);
    CHECK(std::string(auth.what()).find("req_7") != std::string::npos);
}

TEST_CASE("a response that is no message of the assistant is an error of the server", "[anthropic]") {
    for (const char* body :
         {"", "{}", R"({"role":"user","content":[],"stop_reason":"end_turn"})",
          R"({"role":"assistant","content":"x","stop_reason":"end_turn"})", R"({"role":"assistant","content":[]})"}) {
        CHECK(failure_of([&] { return ask(transport_of(answer_json(body))); }).error_class() ==
              ModelErrorClass::server);
    }
}

TEST_CASE("a stream without a stop reason makes no half call, and a dropped call of the server takes its result along",
          "[anthropic]") {
    const std::string begun = begin + start_block(0, R"({"type":"server_tool_use","id":"s","name":"web","input":{}})") +
                              add(0, R"({"type":"input_json_delta","partial_json":"{\"q"})") + stop_block(0);
    CHECK(failure_of([&] { return call_streaming(answer_events(begun + event("message_stop"))); }).error_class() ==
          ModelErrorClass::server);
    const std::string result =
        start_block(1, R"({"type":"web_search_tool_result","tool_use_id":"s","content":[]})") + stop_block(1);
    CHECK(call_streaming(answer_events(begun + result + end_with("max_tokens"))).message.json()["content"].empty());
}
