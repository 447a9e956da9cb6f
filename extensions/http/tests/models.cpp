// Both models over the real transport, against servers that do what servers should not.
#include "support/catch.hpp"
#include "support/hostile_server.hpp"
#include "whittle/anthropic/anthropic_model.hpp"
#include "whittle/http/curl_transport.hpp"
#include "whittle/model/retry_model.hpp"
#include "whittle/openai/openai_chat_model.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;
using namespace std::chrono_literals;
using whittle::testing::Connection;
using whittle::testing::HostileServer;
using whittle::testing::http_answer;

namespace {

constexpr std::string_view as_events = "Content-Type: text/event-stream\r\n";

const std::string openai_begin =
    ": keep-alive\r\n\r\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"h\xC3\xA9l\"}}]}\r\n\r\n";
const std::string openai_end =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}]}\r\n\r\n"
    "data: [DONE]\r\n\r\n";

const std::string anthropic_begin =
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":"
    "\"assistant\",\"model\":\"x\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":3,"
    "\"output_tokens\":1}}}\n\n"
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
    "\"text\",\"text\":\"\"}}\n\n"
    "event: ping\ndata: {\"type\":\"ping\"}\n\n"
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
    "\"text_delta\",\"text\":\"h\xC3\xA9llo\"}}\n\n";
const std::string anthropic_end =
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{"
    "\"output_tokens\":2}}\n\n"
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

constexpr HttpLimits limits{.total = 60s, .max_response_bytes = 1'000'000};

std::shared_ptr<Model<openai::Message>> model_at(const HostileServer& server, const openai::Message*,
                                                 HttpLimits own = limits) {
    return std::make_shared<OpenAIChatModel>(
        make_curl_transport(), OpenAIModelConfig{.model = "m", .base_url = server.url(""), .limits = own});
}

std::shared_ptr<Model<anthropic::Message>> model_at(const HostileServer& server, const anthropic::Message*,
                                                    HttpLimits own = limits) {
    return std::make_shared<AnthropicModel>(
        make_curl_transport(), AnthropicModelConfig{.model = "m", .base_url = server.url(""), .limits = own});
}

/// The text of the reply, or the class of the failure in brackets.
template <typename M>
std::string ask(Model<M>& model) {
    const M question = message_traits<M>::make(Role::user, "hi");
    const DeltaSink listen = [](const Delta&) {};
    try {
        return text_of(model.generate({.messages = {&question, 1}, .on_delta = &listen}).message);
    } catch (const ModelError& error) {
        return "[" + std::string(to_string(error.error_class())) + "]";
    }
}

template <typename M>
std::string ask_server_that(HostileServer::Behaviour behaviour, HttpLimits own = limits) {
    const HostileServer server(std::move(behaviour));
    return ask(*model_at(server, static_cast<const M*>(nullptr), own));
}

HostileServer::Behaviour sends(std::string bytes, std::size_t piece = 1'000'000) {
    return [bytes = std::move(bytes), piece](Connection& connection) {
        connection.read_request();
        connection.send_in_pieces(bytes, piece);
    };
}

/// As one HTTP chunk for each `size` bytes, without the last chunk that ends the body.
std::string open_chunks(std::string_view body, std::size_t size) {
    std::string bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + std::string(as_events) + "\r\n";
    constexpr std::string_view digits = "0123456789abcdef";
    for (; !body.empty(); body.remove_prefix(std::min(size, body.size()))) {
        const std::string_view chunk = body.substr(0, size);
        bytes += {digits[chunk.size() / 16], digits[chunk.size() % 16], '\r', '\n'};
        bytes.append(chunk).append("\r\n");
    }
    return bytes;
}

template <typename M>
void check_model(const std::string& begin, const std::string& end, const std::string& error_event) {
    const std::string reply = begin + end;
    CHECK(ask_server_that<M>(sends(http_answer("200 OK", reply, as_events), 1)) == "h\xC3\xA9llo");
    CHECK(ask_server_that<M>(sends(open_chunks(reply, 3) + "0\r\n\r\n", 7)) == "h\xC3\xA9llo");

    for (const std::size_t size : {std::size_t{0}, reply.size() / 3, reply.size() / 2}) {
        CAPTURE(size);
        CHECK(ask_server_that<M>(sends(open_chunks(reply.substr(0, size), 100))) == "[transport]");
        CHECK(ask_server_that<M>(sends(open_chunks(reply.substr(0, size), 100) + "0\r\n\r\n")) == "[transport]");
    }
    CHECK(ask_server_that<M>(sends(http_answer("200 OK", begin + error_event, as_events))) == "[server]");
    CHECK(ask_server_that<M>(sends(http_answer("200 OK", "<html>Sign in</html>", "Content-Type: text/html\r\n"))) ==
          "[server]");
    CHECK(ask_server_that<M>(sends(http_answer("302 Found", "", "Location: https://login.example/\r\n"))) ==
          "[bad_request]");
    CHECK(ask_server_that<M>(sends(http_answer("529 Overloaded", ""))) == "[server]");
    CHECK(ask_server_that<M>(sends(http_answer("413 Payload Too Large", ""))) == "[overflow]");
    CHECK(ask_server_that<M>(sends(http_answer("400 Bad Request", ""))) == "[overflow]");
    CHECK(ask_server_that<M>(sends(http_answer("502 Bad Gateway", "<html></html>"))) == "[server]");
    CHECK(ask_server_that<M>([](Connection& connection) {
              connection.read_request();
              connection.send("HTTP/1.1 200 OK\r\n" + std::string(as_events) + "\r\n");
              const std::string comment = ": " + std::string(65'536, '.') + "\n\n";
              while (connection.send(comment)) {
              }
          }) == "[bad_request]");
    CHECK(ask_server_that<M>(
              [&reply](Connection& connection) {
                  connection.read_request();
                  connection.send_in_pieces(http_answer("200 OK", reply, as_events), 1, 20ms);
              },
              {.total = 200ms}) == "[transport]");
}

template <typename M>
void check_retry(const std::string& reply) {
    std::atomic<int> requests = 0;
    const HostileServer server([&](Connection& connection) {
        while (!connection.read_request().empty()) {
            const bool is_first = requests++ == 0;
            connection.send(is_first ? http_answer("429 Too Many Requests", "{}", "Retry-After: 7\r\n")
                                     : http_answer("200 OK", reply, as_events));
        }
    });
    const auto clock = std::make_shared<ManualClock>();
    const auto model = with_retry(model_at(server, static_cast<const M*>(nullptr)), {}, {},
                                  {clock, std::make_shared<SeededRandom>(1)});
    CHECK(ask(*model) == "h\xC3\xA9llo");
    CHECK(requests == 2);
    CHECK(clock->now() == 7'000);
}

}  // namespace

TEST_CASE("OpenAI over a hostile server: the whole reply or the right class, never half of it", "[transport]") {
    check_model<openai::Message>(openai_begin, openai_end, "data: {\"error\":{\"message\":\"boom\",\"code\":500}}\n\n");
}

TEST_CASE("Anthropic over a hostile server: the whole reply or the right class, never half of it", "[transport]") {
    check_model<anthropic::Message>(
        anthropic_begin, anthropic_end,
        "event: error\ndata: "
        "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n");
}

TEST_CASE("streamed replies to one model share a connection", "[transport]") {
    const HostileServer server([](Connection& connection) {
        while (!connection.read_request().empty() &&
               connection.send_in_pieces(open_chunks(openai_begin + openai_end, 100) + "0\r\n\r\n", 60)) {
        }
    });
    const auto model = model_at(server, static_cast<const openai::Message*>(nullptr));
    for (int i = 0; i < 3; ++i) CHECK(ask(*model) == "h\xC3\xA9llo");
    CHECK(server.connections() == 1);
}

TEST_CASE("a model that is asked too often is asked again when the server says", "[transport]") {
    check_retry<openai::Message>(openai_begin + openai_end);
    check_retry<anthropic::Message>(anthropic_begin + anthropic_end);
}
