#include "support/catch.hpp"
#include "support/errc_of.hpp"
#include "support/hostile_server.hpp"
#include "support/temp_dir.hpp"
#include "whittle/base/detail/joining_thread.hpp"
#include "whittle/http/curl_transport.hpp"
#include "whittle/model/model.hpp"
#include "whittle/provider/sse_parser.hpp"

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace whittle;
using whittle::testing::answers;
using whittle::testing::Connection;
using whittle::testing::errc_of;
using whittle::testing::HostileServer;
using whittle::testing::http_answer;

namespace {

HttpResponse post(const std::string& url, const BodySink& sink = {}) {
    return make_curl_transport()->send({.url = url, .body = "{}"}, sink);
}

}  // namespace

TEST_CASE("a request arrives as it was given, with nothing added but what HTTP needs", "[transport]") {
    std::string request;
    HostileServer server([&request](Connection& connection) {
        request = connection.read_request();
        connection.send(http_answer("200 OK", ""));
    });
    const auto transport = make_curl_transport({.user_agent = "tester/1"});
    transport->send(
        {.method = "PUT",
         .url = server.url("/a/b?c=d"),
         .headers = {{"Content-Type", "application/json"}, {"X-Empty", ""}, {"X-Twice", "1"}, {"X-Twice", "2"}},
         .body = std::string("{\0}", 3)});
    CHECK(request == "PUT /a/b?c=d HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
                         "\r\nUser-Agent: tester/1\r\nContent-Type: application/json\r\nX-Empty:\r\nX-Twice: "
                         "1\r\nX-Twice: 2\r\nContent-Length: 3\r\n\r\n" +
                         std::string("{\0}", 3));
}

TEST_CASE("a GET has no body, and a large POST asks for no permission first", "[transport]") {
    std::vector<std::string> requests;
    HostileServer server([&requests](Connection& connection) {
        for (std::string request; !(request = connection.read_request()).empty();) {
            requests.push_back(request);
            connection.send(http_answer("200 OK", ""));
        }
    });
    const auto transport = make_curl_transport();
    transport->send({.method = "GET", .url = server.url()});
    transport->send({.url = server.url(), .body = std::string(2'000'000, 'x')});
    REQUIRE(requests.size() == 2);
    CHECK(requests[0].find("Content-Length") == std::string::npos);
    CHECK(requests[1].find("Expect") == std::string::npos);
    CHECK(requests[1].size() > 2'000'000);
}

TEST_CASE("status, headers and body come back, an error status as well", "[transport]") {
    HostileServer server(answers(
        http_answer("418 I'm a teapot", "short and stout", "Retry-After:  7 \r\nX-Twice: 1\r\nX-Twice: 2\r\n")));
    const HttpResponse response = post(server.url());
    CHECK(response.status == 418);
    CHECK(response.body == "short and stout");
    CHECK(response.header("retry-after") == "7");
    CHECK(response.header("X-TWICE") == "1");
    CHECK(response.header("nothing") == std::nullopt);
    CHECK(response.headers.size() == 4);
}

TEST_CASE("an answer that arrives byte by byte, chunked or not, is the same answer", "[transport]") {
    const std::string plain = http_answer("200 OK", "data: a\r\n\r\ndata: b\r\n\r\n");
    const std::string chunked =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: a\r\n\r\n2\r\n\r\n\r\nb\r\ndata: "
        "b\r\n\r\n\r\n0\r\n\r\n";
    for (const std::string& answer : {plain, chunked}) {
        HostileServer server([&answer](Connection& connection) {
            connection.read_request();
            connection.send_in_pieces(answer, 1);
        });
        std::string events;
        SseParser parser;
        const HttpResponse response = post(server.url(), {.on_bytes = [&](std::string_view bytes) {
                                               parser.feed(bytes, [&](const SseEvent& event) { events += event.data; });
                                               return true;
                                           }});
        CHECK(events == "ab");
        CHECK(parser.ends_cleanly());
        CHECK(response.status == 200);
        CHECK(response.body.empty());
    }
}

TEST_CASE("a success is streamed and the body of an error is collected", "[transport]") {
    std::string streamed;
    const BodySink sink{.on_bytes = [&streamed](std::string_view bytes) {
        streamed += bytes;
        return true;
    }};
    HostileServer fine(answers(http_answer("200 OK", "stream")));
    CHECK(post(fine.url(), sink).body.empty());
    CHECK(streamed == "stream");

    HostileServer busy(answers(http_answer("529 Overloaded", "why")));
    CHECK(post(busy.url(), sink).body == "why");
    CHECK(streamed == "stream");
}

TEST_CASE("the sink sees status and headers once, before the body, and chooses", "[transport]") {
    HostileServer server(answers(http_answer("404 Not Found", "body", "Content-Type: text/html\r\n")));
    std::string log;
    const auto sink = [&log](bool wants) {
        return BodySink{.should_stream_body =
                            [&log, wants](const HttpResponse& head) {
                                log +=
                                    std::to_string(head.status) + std::string(*head.header("content-type")) + head.body;
                                return wants;
                            },
                        .on_bytes =
                            [&log](std::string_view bytes) {
                                log += ':' + std::string(bytes);
                                return true;
                            }};
    };
    CHECK(post(server.url(), sink(true)).body.empty());
    CHECK(log == "404text/html:body");
    log.clear();
    CHECK(post(server.url(), sink(false)).body == "body");
    CHECK(log == "404text/html");
}

TEST_CASE("a sink that has enough ends the exchange though the server would go on", "[transport]") {
    HostileServer server([](Connection& connection) {
        connection.read_request();
        connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\ne\r\ndata: [DONE]\n\n\r\n");
        connection.wait_for_client_to_go();
    });
    std::string streamed;
    const HttpResponse response = post(server.url(), {.on_bytes = [&streamed](std::string_view bytes) {
                                           streamed += bytes;
                                           return streamed.find("[DONE]") == std::string::npos;
                                       }});
    CHECK(response.status == 200);
    CHECK(streamed == "data: [DONE]\n\n");
}

TEST_CASE("what a sink throws comes out unchanged", "[transport]") {
    HostileServer server(answers(http_answer("200 OK", "body")));
    CHECK_THROWS_AS(post(server.url(), {.on_bytes = [](std::string_view) -> bool { throw 7; }}), int);
    CHECK_THROWS_AS(post(server.url(), {.should_stream_body = [](const HttpResponse&) -> bool { throw 7; }}), int);
}

TEST_CASE("interim answers and trailers are not taken for the answer", "[transport]") {
    HostileServer server([](Connection& connection) {
        connection.read_request();
        connection.send(
            "HTTP/1.1 100 Continue\r\nX-Old: 1\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-New: 2\r\n\r\n2\r\nok\r\n0\r\nX-Trailer: 3\r\n\r\n");
    });
    const HttpResponse response = post(server.url());
    CHECK(response.status == 200);
    CHECK(response.body == "ok");
    CHECK(response.header("x-new") == "2");
    CHECK(response.headers.size() == 2);
}

TEST_CASE("a redirect is an answer, not a way", "[transport]") {
    HostileServer target(answers(http_answer("200 OK", "secret taken")));
    HostileServer server(answers(http_answer("307 Temporary Redirect", "", "Location: " + target.url() + "\r\n")));
    const HttpResponse response = post(server.url());
    CHECK(response.status == 307);
    CHECK(response.header("location") == target.url());
    CHECK(target.connections() == 0);
}

TEST_CASE("an empty body and a status without a body are answers", "[transport]") {
    HostileServer empty(answers(http_answer("500 Internal Server Error", "")));
    CHECK(post(empty.url()).status == 500);
    HostileServer none(answers("HTTP/1.1 204 No Content\r\n\r\n"));
    CHECK(post(none.url()).status == 204);
}

TEST_CASE("requests to one server share a connection", "[transport]") {
    HostileServer server(answers(http_answer("200 OK", "body")));
    const auto transport = make_curl_transport();
    for (int i = 0; i < 3; ++i) CHECK(transport->send({.url = server.url(), .body = "{}"}).body == "body");
    CHECK(server.connections() == 1);

    const auto forgetful = make_curl_transport({.max_idle_connections = 0});
    for (int i = 0; i < 2; ++i) CHECK(forgetful->send({.url = server.url(), .body = "{}"}).body == "body");
    CHECK(server.connections() == 3);
}

TEST_CASE("one transport serves several threads", "[transport]") {
    HostileServer server(answers(http_answer("200 OK", "body")));
    const auto transport = make_curl_transport();
    std::vector<int> right(4);
    {
        std::vector<detail::JoiningThread> threads;
        for (int& count : right) {
            threads.emplace_back([&] {
                for (int i = 0; i < 10; ++i)
                    count += transport->send({.url = server.url(), .body = "{}"}).body == "body" ? 1 : 0;
            });
        }
    }
    CHECK(right == std::vector<int>(4, 10));
    CHECK(server.connections() <= 40);
}

TEST_CASE("the environment chooses no proxy; the options do", "[transport]") {
    HostileServer proxy(answers(http_answer("200 OK", "from the proxy")));
    HostileServer server(answers(http_answer("200 OK", "from the server")));
    const std::string proxy_url = "http://127.0.0.1:" + std::to_string(proxy.port());
    setenv("http_proxy", proxy_url.c_str(), 1);
    setenv("ALL_PROXY", proxy_url.c_str(), 1);
    CHECK(post(server.url()).body == "from the server");
    setenv("no_proxy", "*", 1);
    CHECK(make_curl_transport({.proxy = proxy_url})->send({.url = server.url()}).body == "from the proxy");
    CHECK(make_curl_transport({.proxy = proxy_url, .no_proxy = "127.0.0.1"})->send({.url = server.url()}).body ==
          "from the server");
    for (const char* name : {"http_proxy", "ALL_PROXY", "no_proxy"}) unsetenv(name);
}

TEST_CASE("a request that cannot be sent is refused, and its secrets are not told", "[transport]") {
    const auto transport = make_curl_transport();
    const HttpRequest requests[] = {
        {.url = "not a url"},
        {.url = ""},
        {.url = "file:///etc/passwd"},
        {.url = "ftp://127.0.0.1/secret"},
        {.url = "http://127.0.0.1/\r\nX: secret"},
        {.url = "http:/user:secret@127.0.0.1:1/"},
        {.url = "http:///user:secret@127.0.0.1:1/"},
        {.url = "http:user:secret@127.0.0.1:1/"},
        {.method = "", .url = "http://user:secret@127.0.0.1:1/"},
        {.method = "GET\r\nX: secret", .url = "http://127.0.0.1/"},
        {.method = "", .url = "http://127.0.0.1/"},
        {.url = "http://127.0.0.1/", .headers = {{"Authorization", "secret\r\nX: y"}}},
        {.url = "http://127.0.0.1/", .headers = {{"Authorization", std::string("secret\0", 7)}}},
        {.url = "http://127.0.0.1/", .headers = {{"X: secret", "y"}}},
        {.url = "http://127.0.0.1/", .headers = {{"", "secret"}}},
    };
    for (const HttpRequest& request : requests) {
        try {
            transport->send(request);
            FAIL("sent");
        } catch (const Error& error) {
            CHECK(error.errc() == Errc::invalid_argument);
            CHECK(std::string(error.what()).find("secret") == std::string::npos);
        }
    }
}

TEST_CASE("a HEAD has no body, and a length that it is told is none to be afraid of", "[transport]") {
    HostileServer server(answers("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"));
    const auto transport = make_curl_transport();
    const HttpResponse response =
        transport->send({.method = "HEAD", .url = server.url(), .limits = {.max_response_bytes = 1'000}});
    CHECK(response.header("Content-Length") == "100000");
    CHECK(response.body.empty());
    CHECK(errc_of([&] { transport->send({.method = "HEAD", .url = server.url(), .body = "x"}); }) ==
          Errc::invalid_argument);
}

TEST_CASE("a proxy that cannot be one is refused at once, and its password is not told", "[transport]") {
    for (const std::string_view proxy :
         {"ftp://user:SECRET@127.0.0.1:1", "http://user:SECRET@127.0.0.1:99999", "http://user:SEC RET@127.0.0.1:1",
          "http://user:SECRET@", "//user:SECRET@:x"}) {
        CAPTURE(proxy);
        try {
            static_cast<void>(make_curl_transport({.proxy = std::string(proxy)}));
            FAIL("made");
        } catch (const Error& error) {
            CHECK(error.errc() == Errc::invalid_argument);
            CHECK(std::string(error.what()).find("SEC") == std::string::npos);
        }
    }
    for (const char* proxy : {"127.0.0.1:1", "http://u:p@127.0.0.1:1", "https://p.example", "socks5h://[::1]:1080"})
        CHECK(make_curl_transport({.proxy = proxy}) != nullptr);
}

TEST_CASE("a proxy that does not answer is told without its password", "[transport]") {
    const auto transport = make_curl_transport({.proxy = "http://user:SECRET@127.0.0.1:1"});
    try {
        transport->send({.url = "http://127.0.0.1:1/"});
        FAIL("sent");
    } catch (const ModelError& error) {
        CHECK(error.error_class() == ModelErrorClass::transport);
        CHECK(std::string(error.what()).find("SECRET") == std::string::npos);
    }
}

TEST_CASE("a CA bundle without a certificate in it is a mistake of the host, not a failure that may pass",
          "[transport]") {
    HostileServer server([](Connection& connection) { connection.wait_for_client_to_go(); });
    const whittle::testing::TempDir dir;
    const std::string file = (dir.path() / "no.pem").string();
    std::ofstream(file) << "no certificate";
    const auto transport = make_curl_transport({.ca_bundle = file});
    const std::string url = "https" + server.url().substr(4);
    CHECK(errc_of([&] { transport->send({.url = url}); }) == Errc::invalid_argument);
}

TEST_CASE("options that cannot be right are refused", "[transport]") {
    CHECK(errc_of([] { static_cast<void>(make_curl_transport({.ca_bundle = "/no/such/file.pem"})); }) ==
          Errc::invalid_argument);
    CHECK(errc_of([] { static_cast<void>(make_curl_transport({.user_agent = "a\r\nX: b"})); }) ==
          Errc::invalid_argument);
}
