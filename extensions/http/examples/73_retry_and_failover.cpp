// A server that does not answer is asked again, then the next model is asked. Nothing leaves the machine.
#include <whittle/http/curl_transport.hpp>
#include <whittle/provider/classify_error.hpp>
#include <whittle/whittle.hpp>

#include <chrono>
#include <iostream>
#include <memory>
#include <vector>

using namespace whittle;

namespace {

/// A host's own model: a transport, and a body of its own.
struct RemoteModel final : Model<ChatMessage> {
    // [transport]
    std::shared_ptr<HttpTransport> transport = make_curl_transport({.user_agent = "reader/1.0"});
    // [/transport]

    Reply<ChatMessage> generate(const ModelRequest<ChatMessage>&) override {
        const HttpResponse answer = transport->send({.url = "http://127.0.0.1:1/", .body = "{}"});  // nobody is there
        if (answer.status != 200)
            throw to_model_error(classify_error(answer.status, answer.headers, answer.body), "call model");
        return {.message = ChatMessage::assistant(answer.body)};
    }
};

}  // namespace

int main() {
    const auto remote = std::make_shared<RemoteModel>();
    const auto small = std::make_shared<ScriptedModel<ChatMessage>>(std::vector{ChatMessage::assistant("Good day.")});
    const auto clock = std::make_shared<ManualClock>();  // a pause takes no time; yours has the system's
    // [retry]
    const RetryModelCallbacks told{.on_retry = [](const RetryNotice& notice) {
        std::cout << "attempt " << notice.failed_attempt << ": " << to_string(notice.error.error_class()) << '\n';
    }};
    const RetryModelConfig retry{.max_retries = 2, .max_wait = std::chrono::seconds(30)};
    const auto patient = with_retry(remote, retry, told, {.clock = clock});
    const auto model = with_failover<ChatMessage>({patient, small});
    std::cout << text_of(model->generate({}).message) << '\n';
    // [/retry]
}
