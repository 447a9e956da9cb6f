#include "whittle/base/detail/joining_thread.hpp"
#include "whittle/base/detail/sigpipe_guard.hpp"

#include "support/catch.hpp"
#include "support/hostile_server.hpp"
#include "whittle/http/curl_transport.hpp"
#include "whittle/model/model.hpp"
#include "whittle/provider/classify_error.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <string>
#include <string_view>
#include <thread>

using namespace whittle;
using namespace std::chrono_literals;
using whittle::testing::answers;
using whittle::testing::Connection;
using whittle::testing::HostileServer;
using whittle::testing::http_answer;

namespace {

constexpr std::string_view head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n";
constexpr std::string_view endless_head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

/// Reads the request, sends `bytes` and leaves.
HostileServer::Behaviour sends_and_leaves(std::string bytes) {
    return [bytes = std::move(bytes)](Connection& connection) {
        connection.read_request();
        connection.send(bytes);
    };
}

/// Reads the request, sends `bytes` and is silent until the client gives up.
HostileServer::Behaviour sends_and_waits(std::string bytes) {
    return [bytes = std::move(bytes)](Connection& connection) {
        connection.read_request();
        connection.send(bytes);
        connection.wait_for_client_to_go();
    };
}

void send_without_end(Connection& connection) {
    connection.read_request();
    connection.send(endless_head);
    const std::string chunk = "10000\r\n" + std::string(0x10000, 'x') + "\r\n";
    while (connection.send(chunk)) {
    }
}

struct Failure {
    ModelErrorClass error_class;
    std::string text;
};

Failure failure_of(const HttpRequest& request, const BodySink& sink = {}) {
    try {
        make_curl_transport()->send(request, sink);
    } catch (const ModelError& error) {
        return {error.error_class(), error.what()};
    }
    FAIL("nothing was thrown");
    return {};
}

HttpRequest request_to(const HostileServer& server, HttpLimits limits = {}) {
    return {.url = server.url(), .body = "{}", .limits = limits};
}

BodySink counting(std::int64_t& bytes) {
    return {.on_bytes = [&bytes](std::string_view piece) {
        bytes += static_cast<std::int64_t>(piece.size());
        return true;
    }};
}

}  // namespace

TEST_CASE("an answer cut short at any place is a failure of the transport, never a short answer", "[transport]") {
    const std::string plain = http_answer("200 OK", "the body");
    const std::string chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nthe body\r\n";
    for (const std::string& part : {plain.substr(0, plain.size() - 1), chunks}) {
        for (std::size_t size = part.size() % 7; size <= part.size(); size += 7) {
            CAPTURE(part.substr(0, size));
            HostileServer server(sends_and_leaves(part.substr(0, size)));
            CHECK(failure_of(request_to(server)).error_class == ModelErrorClass::transport);
        }
    }
}

TEST_CASE("a stream cut short is a failure after the pieces that came", "[transport]") {
    HostileServer server(sends_and_leaves(std::string(endless_head) + "4\r\nhalf\r\n"));
    std::int64_t bytes = 0;
    CHECK(failure_of(request_to(server), counting(bytes)).error_class == ModelErrorClass::transport);
    CHECK(bytes == 4);
}

TEST_CASE("a connection that is reset is a failure of the transport", "[transport]") {
    HostileServer server([](Connection& connection) {
        connection.read_request();
        connection.send(head);
        connection.cut();
    });
    CHECK(failure_of(request_to(server)).error_class == ModelErrorClass::transport);
}

TEST_CASE("a server that leaves its old connections is asked on a new one", "[transport]") {
    HostileServer server(sends_and_leaves(http_answer("200 OK", "body")));
    const auto transport = make_curl_transport();
    for (int i = 0; i < 3; ++i) CHECK(transport->send(request_to(server)).body == "body");
    CHECK(server.connections() == 3);
}

TEST_CASE("nobody listens", "[transport]") {
    std::string url;
    {
        const HostileServer gone([](Connection&) {});
        url = gone.url("/chat?key=secret");
    }
    const Failure failure = failure_of({.url = url});
    CHECK(failure.error_class == ModelErrorClass::transport);
    CHECK(failure.text.starts_with("POST http://127.0.0.1:"));
    CHECK(failure.text.find("/chat: ") != std::string::npos);
    CHECK(failure.text.find("secret") == std::string::npos);
}

TEST_CASE("what is not HTTP is a failure of the transport", "[transport]") {
    for (const std::string_view bytes :
         {"SSH-2.0-OpenSSH_9.2\r\n", "\x15\x03\x01", "HTTP/1.1 banana\r\n\r\n", "\r\n\r\n"}) {
        CAPTURE(bytes);
        HostileServer server(sends_and_leaves(std::string(bytes)));
        CHECK(failure_of(request_to(server)).error_class == ModelErrorClass::transport);
    }
}

TEST_CASE("a server that never answers is given up after first_byte", "[transport]") {
    HostileServer server(sends_and_waits(""));
    const Failure failure = failure_of(request_to(server, {.first_byte = 100ms}));
    CHECK(failure.error_class == ModelErrorClass::transport);
    CHECK(failure.text == "POST " + server.url() + ": 100 ms without an answer");
}

TEST_CASE("an interim answer is no first byte", "[transport]") {
    HostileServer server(sends_and_waits("HTTP/1.1 102 Processing\r\n\r\n"));
    CHECK(failure_of(request_to(server, {.first_byte = 100ms, .idle = 0ms})).text ==
          "POST " + server.url() + ": 100 ms without an answer");
}

TEST_CASE("a server that falls silent in its answer is given up after idle", "[transport]") {
    const HttpLimits limits{.idle = 500ms};
    HostileServer in_head(sends_and_waits("HTTP/1.1 200 OK\r\nX-A: b\r\n"));
    CHECK(failure_of(request_to(in_head, limits)).text == "POST " + in_head.url() + ": 500 ms without a byte");

    HostileServer in_body(sends_and_waits(std::string(head) + "half"));
    std::int64_t bytes = 0;
    CHECK(failure_of(request_to(in_body, limits), counting(bytes)).text ==
          "POST " + in_body.url() + ": 500 ms without a byte");
    CHECK(bytes == 4);
}

TEST_CASE("a server that sends a byte now and then is given up after total", "[transport]") {
    HostileServer server([](Connection& connection) {
        connection.read_request();
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
        connection.send_in_pieces(std::string(100'000, '.'), 1, 5ms);
    });
    const Failure failure = failure_of(request_to(server, {.total = 200ms}));
    CHECK(failure.error_class == ModelErrorClass::transport);
    CHECK(failure.text == "POST " + server.url() + ": 200 ms in all");
}

TEST_CASE("a server that never finishes its side of TLS is given up after connect", "[transport]") {
    HostileServer server([](Connection& connection) { connection.wait_for_client_to_go(); });
    HttpRequest request = request_to(server, {.connect = 100ms});
    request.url.replace(0, 4, "https");
    const Failure failure = failure_of(request);
    CHECK(failure.error_class == ModelErrorClass::transport);
    CHECK(failure.text == "POST " + request.url + ": 100 ms without a connection");
}

TEST_CASE("an answer above max_response_bytes is refused, announced or not, streamed or not", "[transport]") {
    const HttpLimits limits{.max_response_bytes = 100'000};
    const std::string reason = ": the answer is longer than 100000 bytes";

    HostileServer announced(sends_and_waits("HTTP/1.1 200 OK\r\nContent-Length: 100000001\r\n\r\n"));
    const Failure failure = failure_of(request_to(announced, limits));
    CHECK(failure.text == "POST " + announced.url() + reason);
    CHECK(failure.error_class == ModelErrorClass::bad_request);  // the next answer would be as long

    HostileServer endless(send_without_end);
    CHECK(failure_of(request_to(endless, limits)).text == "POST " + endless.url() + reason);
    std::int64_t bytes = 0;
    CHECK(failure_of(request_to(endless, limits), counting(bytes)).text == "POST " + endless.url() + reason);
    CHECK(bytes <= 100'000);

    HostileServer exact(answers(http_answer("200 OK", std::string(100'000, 'x'))));
    CHECK(make_curl_transport()->send(request_to(exact, limits)).body.size() == 100'000);
}

TEST_CASE("a head without end is refused", "[transport]") {
    HostileServer server([](Connection& connection) {
        connection.read_request();
        connection.send("HTTP/1.1 200 OK\r\n");
        while (connection.send("X-More: " + std::string(1'000, 'x') + "\r\n")) {
        }
    });
    CHECK(failure_of(request_to(server)).error_class == ModelErrorClass::bad_request);
}

TEST_CASE("a stop ends a request that waits for its answer", "[transport]") {
    std::atomic<bool> has_arrived = false;
    enum Client { unknown, gone, stayed };
    std::atomic<Client> client = unknown;
    HostileServer server([&](Connection& connection) {
        connection.read_request();
        connection.send(http_answer("200 OK", ""));
        connection.read_request();
        has_arrived = true;
        has_arrived.notify_one();
        // A client that nothing woke would look around only when this server leaves.
        client = connection.sees_client_go(20s) ? gone : stayed;
        client.notify_one();
    });
    StopSource stop;
    const detail::JoiningThread stopper([&] {
        has_arrived.wait(false);
        stop.request_stop();
    });
    // A new connection and a limit for it have timers in libcurl, which would end the wait as well.
    const auto transport = make_curl_transport();
    HttpRequest request = request_to(server, {.connect = 0ms});
    REQUIRE(transport->send(request).status == 200);
    request.stop = stop.get_token();
    try {
        transport->send(request);
        FAIL("nothing was thrown");
    } catch (const ModelError& error) {
        CHECK(error.error_class() == ModelErrorClass::cancelled);
        CHECK(std::string(error.what()) == "POST " + server.url() + ": stopped");
    }
    client.wait(unknown);
    CHECK(client == gone);
}

TEST_CASE("a stop ends a stream, also when it comes from its own sink, and a request that has not begun",
          "[transport]") {
    HostileServer server(send_without_end);
    StopSource stop;
    HttpRequest request = request_to(server, {.max_response_bytes = 0});
    request.stop = stop.get_token();
    int pieces = 0;
    const BodySink sink{.on_bytes = [&](std::string_view) {
        if (++pieces == 3) stop.request_stop();
        return true;
    }};
    CHECK(failure_of(request, sink).error_class == ModelErrorClass::cancelled);
    CHECK(pieces == 3);
    CHECK(failure_of(request, sink).error_class == ModelErrorClass::cancelled);
    CHECK(server.connections() == 1);
}

namespace {

constexpr std::string_view done_chunk = "e\r\ndata: [DONE]\n\n\r\n";

/// Has enough at "[DONE]".
BodySink until_done(std::string& streamed) {
    return {.on_bytes = [&streamed](std::string_view bytes) {
        streamed += bytes;
        return streamed.find("[DONE]") == std::string::npos;
    }};
}

}  // namespace

TEST_CASE("what follows after a sink has enough is passed over, and the connection serves the next request",
          "[transport]") {
    HostileServer server([](Connection& connection) {
        while (!connection.read_request().empty()) {
            connection.send(std::string(endless_head) + std::string(done_chunk));
            connection.send("4\r\nmore\r\n0\r\n\r\n");
        }
    });
    const auto transport = make_curl_transport();
    for (int i = 0; i < 3; ++i) {
        std::string streamed;
        CHECK(transport->send(request_to(server), until_done(streamed)).status == 200);
        CHECK(streamed.find("[DONE]\n\n") != std::string::npos);
        CHECK(streamed.find("0\r\n") == std::string::npos);
    }
    CHECK(server.connections() == 1);
}

TEST_CASE("a server that goes on for ever behind the end, or leaves, does no harm to what was complete",
          "[transport]") {
    const std::string start = std::string(endless_head) + std::string(done_chunk);
    const HostileServer::Behaviour behaviours[] = {
        sends_and_waits(start), sends_and_leaves(start), [&start](Connection& connection) {
            connection.read_request();
            connection.send(start);
            while (connection.send("1000\r\n" + std::string(0x1000, 'x') + "\r\n")) {
            }
        }};
    for (const auto& behaviour : behaviours) {
        HostileServer server(behaviour);
        const auto transport = make_curl_transport();
        for (int i = 0; i < 2; ++i) {
            std::string streamed;
            CHECK(transport->send(request_to(server, {.idle = 300ms}), until_done(streamed)).status == 200);
        }
        CHECK(server.connections() == 2);  // a connection that was cut off serves nobody
    }
}

TEST_CASE("an error's body reaches the classifier whole, however the gateway sends it", "[transport]") {
    const struct {
        std::string_view status;
        std::string_view headers;
        std::string_view body;
        std::string_view error_class;
    } rows[] = {
        {"429 Too Many Requests", "Retry-After: 3\r\n", R"({"error":{"message":"tokens per minute"}})", "rate_limit"},
        {"529 Overloaded", "", R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})",
         "server"},
        {"502 Bad Gateway", "Content-Type: text/html\r\n", "<html><title>502 Bad Gateway</title></html>", "server"},
        {"413 Payload Too Large", "Content-Type: text/html\r\n", "", "overflow"},
        {"400 Bad Request", "Content-Type: text/event-stream\r\n",
         R"({"error":{"code":400,"message":"no","type":"exceed_context_size_error","n_prompt_tokens":351,"n_ctx":256}})",
         "overflow"},
        {"302 Found", "Location: https://login.example/\r\n", "", "bad_request"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.status);
        HostileServer server([&row](Connection& connection) {
            connection.read_request();
            connection.send_in_pieces(http_answer(row.status, row.body, row.headers), 7);
        });
        std::int64_t streamed = 0;
        const HttpResponse response = make_curl_transport()->send(request_to(server), counting(streamed));
        CHECK(to_string(classify_error(response.status, response.headers, response.body).error_class) ==
              row.error_class);
        CHECK(streamed == 0);
    }
}

TEST_CASE("a write to a closed connection does not end the process, and later signals are as before", "[transport]") {
    const auto is_blocked = [] {
        sigset_t mask;
        pthread_sigmask(SIG_BLOCK, nullptr, &mask);
        return sigismember(&mask, SIGPIPE) == 1;
    };
    {
        const detail::SigpipeGuard guard;
        CHECK(is_blocked());
        raise(SIGPIPE);
    }
    CHECK_FALSE(is_blocked());
    sigset_t pending;
    sigpending(&pending);
    CHECK(sigismember(&pending, SIGPIPE) == 0);
}

TEST_CASE("two threads that guard against the same signal both go on", "[transport]") {
    sigset_t pipe;
    sigset_t old;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &old);  // the threads inherit it: the signal stays with the process
    std::atomic<int> arrivals = 0;
    const auto meet = [&arrivals](int all) {
        for (++arrivals; arrivals < all;) std::this_thread::yield();
    };
    const auto guard_often = [&meet](bool sends) {
        for (int round = 0; round < 400; ++round) {
            {
                const detail::SigpipeGuard guard;
                meet(6 * round + 2);
                if (sends) kill(getpid(), SIGPIPE);
                meet(6 * round + 4);  // both go at once: who looks before it takes finds nothing to take
            }
            meet(6 * round + 6);
        }
    };
    detail::JoiningThread other([&] { guard_often(false); });
    guard_often(true);
    other.join();
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
    sigset_t pending;
    sigpending(&pending);
    CHECK(sigismember(&pending, SIGPIPE) == 0);
}
