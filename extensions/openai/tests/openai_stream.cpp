// Chat completions over a scripted transport: what comes back, whole and streamed.
#include "whittle/openai/detail/openai_stream.hpp"
#include "support/catch.hpp"
#include "support/errc_of.hpp"
#include "support/failure_of.hpp"
#include "support/scripted_transport.hpp"
#include "whittle/openai/openai_chat_model.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using openai::Message;

namespace {

const Message asked = Message::parse(R"({"role":"user","content":"hi"})");

std::shared_ptr<ScriptedTransport> transport_of(ScriptedAnswer answer) {
    return std::make_shared<ScriptedTransport>(std::move(answer));
}

Reply<Message> ask(const std::shared_ptr<HttpTransport>& transport, const DeltaSink* on_delta = nullptr,
                   StopToken stop = {}) {
    OpenAIChatModel model(transport, {.model = "m", .api_key = "sk-secret\n"});
    return model.generate({.messages = {&asked, 1}, .stop = std::move(stop), .on_delta = on_delta});
}

Reply<Message> call_streaming(ScriptedAnswer answer) {
    const DeltaSink ignore = [](const Delta&) {};
    return ask(transport_of(std::move(answer)), &ignore);
}

std::string event(const std::string& data) { return "data: " + data + "\n\n"; }

std::string chunk(const std::string& delta, const std::string& reason = "null") {
    return event(R"({"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":)" + delta +
                 R"(,"finish_reason":)" + reason + "}]}");
}

const std::string end_of_stream =
    event(R"({"id":"x","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":7,"total_tokens":107,)"
          R"("prompt_tokens_details":{"cached_tokens":64,"cache_write_tokens":20}}})") +
    event("[DONE]");

// Comments, CRLF, a character of four bytes, two calls whose pieces alternate, members that nobody knows.
const std::string rich_stream =
    ": keep-alive\r\n\r\n" + chunk(R"({"role":"assistant","content":"","refusal":null})") +
    chunk(R"({"reasoning_content":"let me "})") + chunk(R"({"reasoning_content":"see"})") +
    chunk(R"({"content":"caf\u00e9 "})") + chunk("{\"content\":\"\xF0\x9F\x98\x80\",\"mood\":{\"joy\":1}}") +
    chunk(R"({"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"ls","arguments":""}}]})") +
    chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"p\":"}}]})") +
    chunk(R"({"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"cat","arguments":"{"}}]})") +
    chunk(R"({"tool_calls":[{"index":1,"function":{"arguments":"}"}},{"index":0,"function":{"arguments":"1}"}}]})") +
    chunk(R"({"reasoning_details":[{"type":"text","text":"let ","index":0}]})") +
    chunk(R"({"reasoning_details":[{"type":"text","text":"me","index":0}],"mood":{"calm":2}})") +
    chunk("{}", R"("tool_calls")") + end_of_stream;

const char* const rich_message =
    R"({"role":"assistant","content":"café 😀","refusal":null,"reasoning_content":"let me see",)"
    R"("mood":{"joy":1,"calm":2},"reasoning_details":[{"type":"text","text":"let me","index":0}],)"
    R"("tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{\"p\":1}"}},)"
    R"({"id":"b","type":"function","function":{"name":"cat","arguments":"{}"}}]})";

}  // namespace

TEST_CASE("a stream cut anywhere gives the same whole message with every member that came", "[openai]") {
    for (std::size_t cut = 0; cut <= rich_stream.size(); ++cut) {
        ScriptedAnswer answer = answer_events(rich_stream);
        answer.cuts = {cut};
        const Reply<Message> reply = call_streaming(std::move(answer));
        if (reply.message.json().dump() != rich_message) FAIL(cut << ": " << reply.message.json().dump());
        if (reply.finish != FinishReason::tool_calls) FAIL(cut);
        if (reply.usage != Usage{.uncached_input = 16, .cache_read = 64, .cache_write = 20, .output = 7}) FAIL(cut);
    }
    ScriptedAnswer bytes = answer_events(rich_stream);
    for (std::size_t i = 1; i < rich_stream.size(); ++i) bytes.cuts.push_back(i);
    CHECK(call_streaming(std::move(bytes)).message.json().dump() == rich_message);
}

TEST_CASE("content that streams as lists of parts becomes one part of each run, and is told as it comes", "[openai]") {
    std::string reported;
    const DeltaSink sink = [&](const Delta& delta) {
        reported += (delta.kind == Delta::Kind::thinking ? "<" : "[") + std::string(delta.text);
    };
    const std::string stream =
        chunk(R"({"role":"assistant","content":""})") +
        chunk(R"({"content":[{"type":"thinking","thinking":[{"type":"text","text":"so "}]}]})") +
        chunk(R"({"content":[{"type":"thinking","thinking":[{"type":"text","text":"far"}]}]})") +
        chunk(R"({"content":[{"type":"text","text":"good "},{"type":"text","text":"mor"}]})") +
        chunk(R"({"content":"ning"})") + chunk(R"({"content":[{"type":"reference","reference_ids":[1]}]})") +
        chunk(R"({"content":[{"type":"reference","reference_ids":[2]}]})", R"("stop")") + end_of_stream;
    const Reply<Message> reply = ask(transport_of(answer_events(stream)), &sink);
    CHECK(reported == "<so <far[good [mor[ning");
    CHECK(reply.message.json().at("content").dump() ==
          R"([{"type":"thinking","thinking":[{"type":"text","text":"so far"}]},{"type":"text","text":"good morning"},)"
          R"({"type":"reference","reference_ids":[1]},{"type":"reference","reference_ids":[2]}])");
}

TEST_CASE("text that came before a list of parts is kept as a part", "[openai]") {
    const Reply<Message> reply = call_streaming(
        answer_events(chunk(R"({"content":"see "})") + chunk(R"({"content":null})") +
                      chunk(R"({"content":[{"type":"text","text":"this"}]})", R"("stop")") + end_of_stream));
    CHECK(reply.message.json().at("content").dump() == R"([{"type":"text","text":"see this"}])");
}

TEST_CASE("a listener gets text, thinking and the pieces of calls with their names, in order", "[openai]") {
    std::vector<std::tuple<Delta::Kind, std::string, std::string, std::string>> got;
    const DeltaSink listen = [&](const Delta& delta) {
        got.emplace_back(delta.kind, delta.text, delta.call_id, delta.tool);
    };
    (void)ask(transport_of(answer_events(rich_stream)), &listen);
    using Kind = Delta::Kind;
    const decltype(got) expected{{Kind::thinking, "let me ", "", ""},
                                 {Kind::thinking, "see", "", ""},
                                 {Kind::text, "café ", "", ""},
                                 {Kind::text, "😀", "", ""},
                                 {Kind::tool_arguments, "{\"p\":", "a", "ls"},
                                 {Kind::tool_arguments, "{", "b", "cat"},
                                 {Kind::tool_arguments, "}", "b", "cat"},
                                 {Kind::tool_arguments, "1}", "a", "ls"}};
    CHECK(got == expected);
}

TEST_CASE("the request goes to the right place, streamed only for a listener, with the key in its header", "[openai]") {
    const std::string body = R"({"choices":[{"message":{"role":"assistant","content":"yo"},"finish_reason":"stop"}]})";
    const auto transport = transport_of(answer_json(body));
    const Reply<Message> reply = ask(transport);
    CHECK(text_of(reply.message) == "yo");
    CHECK(reply.usage == std::nullopt);
    CHECK(transport->requests()[0].url == "https://api.openai.com/v1/chat/completions");
    CHECK(transport->header("authorization") == "Bearer sk-secret");  // the line break behind it is gone
    CHECK(transport->requests()[0].body.find("stream") == std::string::npos);

    const auto azure = transport_of(answer_json(body));
    OpenAIModelConfig config{.model = "m", .base_url = "https://h/openai/deployments/d/?api-version=1", .api_key = "k"};
    config.dialect = *openai::find_dialect("azure");
    (void)OpenAIChatModel(azure, config).generate({.messages = {&asked, 1}});
    CHECK(azure->requests()[0].url == "https://h/openai/deployments/d/chat/completions?api-version=1");
    CHECK(azure->header("api-key") == "k");
}

TEST_CASE("calls without an index, or all with the same one, are told apart by their ids", "[openai]") {
    const std::string first = R"("id":"a","function":{"name":"ls","arguments":"{}"})";
    const std::string second = R"("id":"b","function":{"name":"ls","arguments":"{"})";
    const std::string rest = R"("function":{"arguments":"}"})";
    for (const std::string index : {"", R"("index":0,)"}) {
        const Reply<Message> reply = call_streaming(
            answer_events(chunk(R"({"tool_calls":[{)" + index + first + "}]}") +
                          chunk(R"({"tool_calls":[{)" + index + second + "}]}") +
                          chunk(R"({"tool_calls":[{)" + index + rest + "}]}", R"("stop")") + event("[DONE]")));
        CHECK(reply.message.json()["tool_calls"].dump() ==
              R"([{"id":"a","function":{"name":"ls","arguments":"{}"},"type":"function"},)"
              R"({"id":"b","function":{"name":"ls","arguments":"{}"},"type":"function"}])");
        CHECK(reply.finish == FinishReason::tool_calls);  // though the server said stop
    }
}

TEST_CASE("finish reasons, refusals and replies whose budget went into reasoning are told apart", "[openai]") {
    const auto finish_of = [](const std::string& message, const std::string& reason) {
        return openai::chat_reply(R"({"choices":[{"index":0,"message":)" + message + R"(,"finish_reason":)" + reason +
                                  "}]}")
            .finish;
    };
    const std::string text = R"({"role":"assistant","content":"x","function_call":null})";
    CHECK(finish_of(text, R"("stop")") == FinishReason::stop);
    CHECK(finish_of(text, "null") == FinishReason::stop);
    CHECK(finish_of(R"({"role":"assistant","content":""})", R"("length")") == FinishReason::length);
    CHECK(finish_of(text, R"("content_filter")") == FinishReason::refusal);
    CHECK(finish_of(R"({"role":"assistant","content":null,"refusal":"no"})", R"("stop")") == FinishReason::refusal);
    CHECK(finish_of(text, R"("something")") == FinishReason::other);
    CHECK(finish_of(R"({"content":"no role"})", R"("stop")") == FinishReason::stop);
}

TEST_CASE("usage is split into its classes, however the server counts", "[openai]") {
    const auto usage = [](const char* json) { return openai::usage_of(nlohmann::ordered_json::parse(json)); };
    CHECK(usage(R"({"prompt_tokens":10,"completion_tokens":2})") == Usage{.uncached_input = 10, .output = 2});
    CHECK(usage(R"({"prompt_tokens":10,"prompt_cache_hit_tokens":8,"completion_tokens":2})") ==
          Usage{.uncached_input = 2, .cache_read = 8, .output = 2});
    // Reasoning inside the output, and beside it.
    CHECK(usage(R"({"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,
                    "completion_tokens_details":{"reasoning_tokens":4}})") == Usage{.uncached_input = 10, .output = 5});
    CHECK(usage(R"({"prompt_tokens":10,"completion_tokens":5,"total_tokens":19,
                    "completion_tokens_details":{"reasoning_tokens":4}})") == Usage{.uncached_input = 10, .output = 9});
    CHECK(usage(R"({"prompt_tokens":-5,"completion_tokens":18446744073709551615,
                    "prompt_tokens_details":{"cached_tokens":9}})") == std::nullopt);
    CHECK(usage("null") == std::nullopt);
}

TEST_CASE("a server's timings come with the reply, whole and streamed, and only where they are complete", "[openai]") {
    const std::string timings =
        R"("timings":{"cache_n":211,"prompt_n":80,"prompt_ms":1178.6,"predicted_n":20,"predicted_ms":1512})";
    const ServerTiming reported{
        .prefill_tokens = 80, .prefill_ms = 1178.6, .cached_tokens = 211, .output_tokens = 20, .output_ms = 1512};
    const std::string whole = R"({"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],)" + timings + "}";
    CHECK(ask(transport_of(answer_json(whole))).timing == reported);
    const std::string stream = chunk(R"({"content":"a"})", R"("stop")") + event(R"({"choices":[],)" + timings + "}");
    CHECK(call_streaming(answer_events(stream + event("[DONE]"))).timing == reported);
    CHECK(call_streaming(answer_events(rich_stream)).timing == std::nullopt);

    const auto timing = [](const char* json) { return openai::timing_of(nlohmann::ordered_json::parse(json)); };
    // An older release: what it had kept is in the prompt's size alone.
    CHECK(
        timing(R"({"usage":{"prompt_tokens":300},
                     "timings":{"prompt_n":80,"prompt_ms":9,"predicted_n":2,"predicted_ms":4}})") ==
        ServerTiming{.prefill_tokens = 80, .prefill_ms = 9, .cached_tokens = 220, .output_tokens = 2, .output_ms = 4});
    CHECK(timing(R"({"timings":{"prompt_n":80,"prompt_ms":9,"predicted_n":2}})") == std::nullopt);
    CHECK(timing(R"({"timings":{"prompt_n":80,"prompt_ms":"9","predicted_n":2,"predicted_ms":4}})") == std::nullopt);
    CHECK(timing(R"({"timings":[1]})") == std::nullopt);
    CHECK(timing("{}") == std::nullopt);
}

TEST_CASE("a stream that breaks off gives an error and no message", "[openai]") {
    const std::string begun = chunk(R"({"role":"assistant","content":"half a mess"})");
    CHECK(failure_of([&] { return call_streaming(answer_events(begun)); }).error_class() == ModelErrorClass::transport);
    CHECK(failure_of([&] { return call_streaming(answer_events("")); }).error_class() == ModelErrorClass::transport);
    CHECK(failure_of([&] { return call_streaming(answer_events(event("[DONE]"))); }).error_class() ==
          ModelErrorClass::transport);
    ScriptedAnswer cut = answer_events(begun + chunk("{}", R"("stop")"));
    cut.failure = ModelError(ModelErrorClass::transport, "receive: connection reset");
    CHECK(std::string(failure_of([&] { return call_streaming(cut); }).what()) == "receive: connection reset");
}

TEST_CASE("a whole reply without the last event is a reply", "[openai]") {
    const Reply<Message> reply = call_streaming(answer_events(chunk(R"({"content":"all"})", R"("stop")")));
    CHECK(text_of(reply.message) == "all");
    CHECK(reply.usage == std::nullopt);
}

TEST_CASE("nothing behind the last event is read", "[openai]") {
    ScriptedAnswer answer = answer_events(chunk(R"({"content":"all"})", R"("stop")") + end_of_stream);
    answer.cuts = {answer.body.size()};
    answer.body += event("{not json");
    answer.failure = ModelError(ModelErrorClass::transport, "receive: idle for too long");
    CHECK(text_of(call_streaming(std::move(answer)).message) == "all");
}

TEST_CASE("an error inside a stream that began with 200 is that error", "[openai]") {
    const std::string begun = chunk(R"({"content":"half"})");
    const ModelError overloaded = failure_of([&] {
        return call_streaming(answer_events(
            begun + event(R"({"error":{"code":502,"message":"Provider disconnected"},"choices":[{"index":0,)"
                          R"("delta":{"content":""},"finish_reason":"error"}]})")));
    });
    CHECK(overloaded.error_class() == ModelErrorClass::server);
    CHECK(std::string(overloaded.what()).find("Provider disconnected") != std::string::npos);
    const ModelError old_vllm = failure_of([&] {
        return call_streaming(answer_events(
            event(R"({"object":"error","message":"This model's maximum context length is 100 tokens. However, you )"
                  R"(requested 120 tokens","type":"BadRequestError","code":400})")));
    });
    CHECK(old_vllm.error_class() == ModelErrorClass::overflow);
    CHECK(old_vllm.overflow().context_limit_tokens == 100);
}

TEST_CASE("a server that answers a request for a stream with JSON or HTML is understood", "[openai]") {
    const std::string body = R"({"choices":[{"message":{"role":"assistant","content":"yo"},"finish_reason":"stop"}]})";
    std::string heard;
    const DeltaSink listen = [&](const Delta& delta) { heard += delta.text; };
    CHECK(text_of(ask(transport_of(answer_json(body)), &listen).message) == "yo");
    CHECK(heard == "yo");
    ScriptedAnswer html{.headers = {{"Content-Type", "text/html"}}, .body = "<html>Sign in</html>"};
    CHECK(failure_of([&] { return call_streaming(html); }).error_class() == ModelErrorClass::server);
    html.headers = {{"Content-Type", "text/plain"}};
    CHECK(failure_of([&] { return call_streaming(html); }).error_class() == ModelErrorClass::transport);
}

TEST_CASE("a reply that ended because the window was full is an overflow", "[openai]") {
    const ModelError error = failure_of([] {
        return openai::chat_reply(R"({"choices":[{"message":{"role":"assistant","content":"hal"},)"
                                  R"("finish_reason":"model_context_window_exceeded"}],)"
                                  R"("usage":{"prompt_tokens":900,"completion_tokens":124}})");
    });
    CHECK(error.error_class() == ModelErrorClass::overflow);
    CHECK(error.overflow().requested_tokens == 1'024);
}

TEST_CASE("a refused request has the class that its body means, with the numbers of an overflow", "[openai]") {
    const auto refuse = [](int status, std::string body) {
        return failure_of([&] { return ask(transport_of(answer_json(std::move(body), status))); });
    };
    const ModelError full = refuse(
        400, R"({"error":{"code":400,"message":"request (351 tokens) exceeds the available context size (256 tokens), )"
             R"(try increasing it","type":"exceed_context_size_error","n_prompt_tokens":351,"n_ctx":256}})");
    CHECK(full.error_class() == ModelErrorClass::overflow);
    CHECK(full.overflow().context_limit_tokens == 256);
    CHECK(full.overflow().requested_tokens == 351);
    CHECK(refuse(401, "").error_class() == ModelErrorClass::auth);
    CHECK(refuse(302, "").error_class() == ModelErrorClass::bad_request);
    CHECK(refuse(503, "<html>gateway</html>").error_class() == ModelErrorClass::server);
}

TEST_CASE("an answer that is no reply is an error of the server", "[openai]") {
    for (const char* body : {"", "[]", "{}", R"({"choices":[]})", R"({"choices":[{"message":null}]})",
                             R"({"choices":[{"message":{"role":"nobody","content":"x"}}]})", R"({"choices":[1]})"}) {
        CHECK(failure_of([&] { return ask(transport_of(answer_json(body))); }).error_class() ==
              ModelErrorClass::server);
    }
    CHECK(failure_of([] { return call_streaming(answer_events(event("{half"))); }).error_class() ==
          ModelErrorClass::server);
}

TEST_CASE("a key that a server repeats is not in the error", "[openai]") {
    const ModelError error = failure_of(
        [] { return ask(transport_of(answer_json(R"({"error":{"message":"Incorrect API key: sk-secret"}})", 401))); });
    CHECK(error.error_class() == ModelErrorClass::auth);
    CHECK(std::string(error.what()).find("sk-secret") == std::string::npos);
    CHECK(std::string(error.what()).find("Incorrect API key: ***") != std::string::npos);
}

TEST_CASE("what a listener throws gets out, and a stop ends the call", "[openai]") {
    const DeltaSink angry = [](const Delta&) { throw std::runtime_error("enough"); };
    CHECK_THROWS_AS(ask(transport_of(answer_events(rich_stream)), &angry), std::runtime_error);
    StopSource source;
    source.request_stop();
    CHECK(errc_of([&] { (void)ask(transport_of(answer_json("{}")), nullptr, source.get_token()); }) == Errc::cancelled);
}

TEST_CASE("an empty finish reason is none: a stream that breaks off is no reply, and no reason is forgotten",
          "[openai]") {
    const std::string half = chunk(R"({"content":"Half a sen"})", R"("")");
    CHECK(failure_of([&] { return call_streaming(answer_events(half)); }).error_class() == ModelErrorClass::transport);
    const std::string cut_off = half + chunk("{}", R"("length")") + chunk("{}", R"("")") + end_of_stream;
    CHECK(call_streaming(answer_events(cut_off)).finish == FinishReason::length);
}

TEST_CASE("a reply that the server broke off is its error, streamed or not", "[openai]") {
    for (const std::string reason : {"error", "abort", "insufficient_system_resource"}) {
        const std::string stream = chunk(R"({"content":"Half a"})", '"' + reason + '"') + end_of_stream;
        CHECK(failure_of([&] { return call_streaming(answer_events(stream)); }).error_class() ==
              ModelErrorClass::server);
        const std::string body =
            R"({"choices":[{"message":{"content":"Half a"},"finish_reason":")" + reason + R"("}]})";
        CHECK(failure_of([&] { return ask(transport_of(answer_json(body))); }).error_class() ==
              ModelErrorClass::server);
    }
    const ModelError inside = failure_of([] {
        return ask(transport_of(answer_json(
            R"({"choices":[{"error":{"code":429,"message":"rate limit reached"},"message":{"content":"Half a"}}]})")));
    });
    CHECK(inside.error_class() == ModelErrorClass::rate_limit);
    const ModelError quoted = failure_of([] {
        return ask(transport_of(answer_json(
            R"({"choices":[{"message":{"content":"I was told: prompt is too long: 9000 tokens > 800 maximum"},)"
            R"("error":{"code":502,"message":"Provider returned error"}}]})")));
    });
    CHECK(quoted.error_class() == ModelErrorClass::server);
    CHECK(std::string(quoted.what()).find("I was told") == std::string::npos);
}

TEST_CASE("more calls than anyone asks for are refused before they cost time", "[openai]") {
    std::string calls;
    for (int i = 0; i < 1'100; ++i) {
        calls += (i > 0 ? "," : "") + (R"({"index":)" + std::to_string(i)) + R"(,"id":"a)" + std::to_string(i) +
                 R"(","function":{"name":"ls"}})";
    }
    const std::string stream = chunk(R"({"tool_calls":[)" + calls + "]}", R"("tool_calls")") + end_of_stream;
    CHECK(failure_of([&] { return call_streaming(answer_events(stream)); }).error_class() == ModelErrorClass::server);
}

TEST_CASE("zeros where a server does not count are no usage", "[openai]") {
    CHECK_FALSE(openai::usage_of({{"prompt_tokens", 0}, {"completion_tokens", 0}, {"total_tokens", 0}}));
    CHECK_FALSE(openai::usage_of(nlohmann::ordered_json::object()));
    CHECK(openai::usage_of({{"prompt_tokens", 0}, {"completion_tokens", 1}}) == Usage{.output = 1});
}

TEST_CASE("no part of a secret is in an error: a cut key, a header, a query, and a key of stars ends at all",
          "[openai]") {
    const auto reported = [](OpenAIModelConfig config, const std::string& message) {
        config.model = "m";
        const auto transport = transport_of(answer_json(R"({"error":{"message":")" + message + R"("}})", 401));
        OpenAIChatModel model(transport, config);
        return std::string(failure_of([&] { return model.generate({.messages = {&asked, 1}}); }).what());
    };
    const std::string far(470, 'x');
    CHECK(reported({.api_key = "sk-SECRETSECRETSECRETSECRETSECRET"}, far + " sk-SECRETSECRETSECRETSECRETSECRET")
              .find("SECRET") == std::string::npos);
    CHECK(reported({.headers = {{"Authorization", "Bearer sk-HEADERSECRET"}}}, "bad sk-HEADERSECRET").find("SECRET") ==
          std::string::npos);
    CHECK(reported({.base_url = "http://h/v1?v=1&code=QUERYSECRET"}, "bad QUERYSECRET").find("SECRET") ==
          std::string::npos);
    CHECK(reported({.base_url = "http://h/v1?key=super%2FSECRET"}, "bad super/SECRET").find("SECRET") ==
          std::string::npos);
    CHECK(reported({.headers = {{"X-Api-Key", "superSECRET123 "}}}, "bad superSECRET123").find("SECRET") ==
          std::string::npos);
    CHECK(
        reported({.headers = {{"Cookie", "session=topSECRET99; theme=darkmode"}}}, "bad topSECRET99").find("SECRET") ==
        std::string::npos);
    const std::string plain = "see https://docs.example; messages[1].role must be user or assistant";
    CHECK(reported({.headers = {{"HTTP-Referer", "https://myapp.example"}, {"X-Title", "My assistant"}}}, plain)
              .find(plain) != std::string::npos);
    CHECK(reported({.api_key = "********"}, "bad sk-********1234").find("sk-***1234") != std::string::npos);
    CHECK(reported({.api_key = "***"}, "bad sk-***1234").find("sk-***1234") != std::string::npos);
}
