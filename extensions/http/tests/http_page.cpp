// An exchange by hand, and models around models.
#include "support/catch.hpp"
#include "support/hostile_server.hpp"
#include "whittle/http/curl_transport.hpp"
#include "whittle/message/chat_message.hpp"
#include "whittle/model/failover_model.hpp"
#include "whittle/model/retry_model.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/provider/classify_error.hpp"
#include "whittle/provider/sse_parser.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace whittle;
using whittle::testing::answers;
using whittle::testing::HostileServer;
using whittle::testing::http_answer;

namespace {

std::string stream_events(HttpTransport& transport, const HttpRequest& request) {
    std::string text;
    SseParser parser;
    const auto on_event = [&text](const SseEvent& event) { text += event.data; };
    const BodySink sink{.on_bytes = [&](std::string_view bytes) {
        parser.feed(bytes, on_event);
        return true;  // false: enough, do not read the rest
    }};
    const HttpResponse response = transport.send(request, sink);
    if (response.status != 200)
        throw to_model_error(classify_error(response.status, response.headers, response.body), "call model");
    return text;
}

template <AgentMessage M>
std::shared_ptr<Model<M>> patient(std::shared_ptr<Model<M>> first, std::shared_ptr<Model<M>> second) {
    const RetryModelConfig retry{.max_retries = 2, .max_wait = std::chrono::seconds(30)};
    return with_failover<M>({with_retry(std::move(first), retry), std::move(second)});
}

}  // namespace

TEST_CASE("the page's exchange streams a success and throws what an error means", "[http]") {
    HostileServer server(answers(http_answer("200 OK", "data: a\n\ndata: b\n\n")));
    HostileServer full(answers(http_answer("413 Payload Too Large", "")));
    const auto transport = make_curl_transport();
    CHECK(stream_events(*transport, {.url = server.url(), .body = "{}"}) == "ab");
    try {
        stream_events(*transport, {.url = full.url(), .body = "{}"});
        FAIL("no error");
    } catch (const ModelError& error) {
        CHECK(error.error_class() == ModelErrorClass::overflow);
    }
}

TEST_CASE("the page's model asks the second one when the first is down", "[http]") {
    using Chat = ScriptedModel<ChatMessage>;
    const auto down = std::make_shared<Chat>(
        [](const ModelRequest<ChatMessage>&) -> Reply<ChatMessage> { throw ModelError(ModelErrorClass::auth, "no"); });
    const auto up = std::make_shared<Chat>(std::vector<ChatMessage>{ChatMessage::assistant("hello")});
    CHECK(text_of(patient<ChatMessage>(down, up)->generate({}).message) == "hello");
}
