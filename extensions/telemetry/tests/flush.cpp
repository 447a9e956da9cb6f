// What becomes of data when servers and networks fail.
#include "receiver.hpp"

#include "support/catch.hpp"
#include "support/scripted_transport.hpp"

#include <stdexcept>

using namespace whittle;
using namespace std::chrono_literals;
using nlohmann::json;
using telemetry::FlushResult;
using telemetry::OpenTelemetry;
using testing::Receiver;

namespace {

telemetry::OpenTelemetryConfig only_logs() {
    auto config = testing::fixed_config();
    config.traces = config.metrics = false;
    return config;
}

void tell(const OpenTelemetry& exporter, std::string_view kind) { exporter.event_sink()({.kind = kind}); }

std::vector<std::string> names_of(const std::vector<json>& records) {
    std::vector<std::string> names;
    for (const json& record : records) names.push_back(record["eventName"]);
    return names;
}

}  // namespace

TEST_CASE("a flush without data asks nothing of the server", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    OpenTelemetry exporter(testing::fixed_config(), receiver);
    CHECK(exporter.flush().ok());
    CHECK(receiver->requests.empty());
}

TEST_CASE("each signal is posted as JSON to its path, with the host's headers", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    auto config = testing::fixed_config();
    config.endpoint = "https://collector.example/base//";
    config.headers = {{"Authorization", "Bearer key"}};
    config.resource = {{"service.name", "agent"}, {"service.version", "7"}};
    OpenTelemetry exporter(config, receiver);
    exporter.event_sink()(testing::committed_event());
    exporter.report_sink()(testing::summary_report());
    CHECK(exporter.flush().ok());

    std::vector<std::string> urls;
    for (const HttpRequest& request : receiver->requests) {
        urls.push_back(request.url);
        CHECK(request.method == "POST");
        CHECK(find_header(request.headers, "Content-Type") == "application/json");
        CHECK(find_header(request.headers, "Authorization") == "Bearer key");
        CHECK(find_header(request.headers, "User-Agent")->starts_with("whittle/"));
        CHECK(request.limits.total == 10s);
    }
    CHECK(urls == std::vector<std::string>{"https://collector.example/base/v1/traces",
                                           "https://collector.example/base/v1/logs",
                                           "https://collector.example/base/v1/metrics"});
    const json body = json::parse(receiver->requests[0].body);
    CHECK(body["resourceSpans"][0]["resource"]["attributes"][0] ==
          json::parse(R"({"key":"service.name","value":{"stringValue":"agent"}})"));
    CHECK(body["resourceSpans"][0]["scopeSpans"][0]["scope"]["name"] == "whittle");
}

TEST_CASE("signals that are switched off are neither kept nor sent", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    OpenTelemetry exporter(only_logs(), receiver);
    exporter.report_sink()(testing::summary_report());
    CHECK(exporter.waiting() == 0);
    tell(exporter, "a");
    exporter.flush();
    CHECK(receiver->requests.size() == 1);
}

TEST_CASE("a transport that fails loses nothing: the next flush sends all, in order", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    OpenTelemetry exporter(only_logs(), receiver);
    tell(exporter, "a");
    tell(exporter, "b");
    receiver->answer = [](const HttpRequest&) -> HttpResponse { throw std::runtime_error("cable cut"); };
    const FlushResult failed = exporter.flush();
    CHECK_FALSE(failed.ok());
    CHECK(failed.retry);
    CHECK(failed.items_waiting == 2);
    REQUIRE(failed.problems.size() == 1);
    CHECK(failed.problems[0] == "POST http://localhost:4318/v1/logs: cable cut");

    tell(exporter, "c");
    receiver->answer = {};
    receiver->requests.clear();
    const FlushResult sent = exporter.flush();
    CHECK(sent.ok());
    CHECK(sent.logs_sent == 3);
    CHECK(names_of(receiver->records()) == std::vector<std::string>{"whittle.a", "whittle.b", "whittle.c"});
}

TEST_CASE("a flush breaks off at the first failure: other signals would wait for the same timeout", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    OpenTelemetry exporter(testing::fixed_config(), receiver);
    exporter.event_sink()(testing::committed_event());
    exporter.report_sink()(testing::summary_report());
    receiver->answer = [](const HttpRequest&) -> HttpResponse {
        throw ModelError(ModelErrorClass::transport, "send: no connection");
    };
    CHECK(exporter.flush().items_waiting == 5);
    CHECK(receiver->requests.size() == 1);
}

TEST_CASE("what the server cannot take now is kept, and how long it asks to wait is told", "[telemetry]") {
    const int status = GENERATE(429, 502, 503, 504);
    const auto receiver = std::make_shared<Receiver>();
    OpenTelemetry exporter(only_logs(), receiver);
    tell(exporter, "a");
    receiver->answer = [status](const HttpRequest&) {
        return HttpResponse{.status = status, .headers = {{"Retry-After", "7"}}, .body = R"({"message":"busy"})"};
    };
    const FlushResult result = exporter.flush();
    CHECK(result.retry);
    CHECK(result.retry_after == 7s);
    CHECK(result.items_waiting == 1);
    CHECK(result.problems[0].ends_with(": status " + std::to_string(status) + ": busy"));
}

TEST_CASE("what the server will never take is gone, and counted; other signals go on", "[telemetry]") {
    const int status = GENERATE(301, 400, 401, 404, 413, 500);
    const auto receiver = std::make_shared<Receiver>();
    OpenTelemetry exporter(testing::fixed_config(), receiver);
    exporter.event_sink()(testing::committed_event());
    exporter.report_sink()(testing::summary_report());
    receiver->answer = [status](const HttpRequest& request) {
        return HttpResponse{.status = request.url.ends_with("traces") ? status : 200, .body = "<html>no</html>"};
    };
    const FlushResult result = exporter.flush();
    CHECK_FALSE(result.retry);
    CHECK(result.items_in_refused_requests == 4);
    CHECK(result.spans_sent == 0);
    CHECK(result.logs_sent == 1);
    CHECK(result.points_sent > 0);
    CHECK(result.items_waiting == 0);
    CHECK(result.problems ==
          std::vector<std::string>{"POST http://localhost:4318/v1/traces: status " + std::to_string(status)});
}

TEST_CASE("an answer too large to read is final, as the protocol has it", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    OpenTelemetry exporter(only_logs(), receiver);
    tell(exporter, "a");
    receiver->answer = [](const HttpRequest&) -> HttpResponse {
        throw ModelError(ModelErrorClass::bad_request, "send: the answer is too large");
    };
    CHECK(exporter.flush().items_in_refused_requests == 1);
    CHECK(exporter.waiting() == 0);
}

TEST_CASE("a partial success says how many items the server did not keep, and is not sent again", "[telemetry]") {
    const char* const count = GENERATE(R"("2")", "2");  // protobuf's JSON has 64-bit numbers as text
    const auto receiver = std::make_shared<Receiver>();
    OpenTelemetry exporter(only_logs(), receiver);
    for (const char* kind : {"a", "b", "c"}) tell(exporter, kind);
    receiver->answer = [count](const HttpRequest&) {
        return HttpResponse{.status = 200,
                            .body = std::string(R"({"partialSuccess":{"rejectedLogRecords":)") + count +
                                    R"(,"errorMessage":"too old"}})"};
    };
    const FlushResult result = exporter.flush();
    CHECK_FALSE(result.ok());
    CHECK_FALSE(result.retry);
    CHECK(result.logs_sent == 3);
    CHECK(result.items_rejected == 2);
    CHECK(result.problems[0] == "POST http://localhost:4318/v1/logs: 2 items not kept: too old");
    CHECK(result.items_waiting == 0);
}

TEST_CASE("an answer of success that is no JSON is a success", "[telemetry]") {
    const char* const body = GENERATE("", "thanks", "[]", R"({"partialSuccess":7})", R"({"partialSuccess":{}})",
                                      R"({"partialSuccess":{"rejectedLogRecords":"-5"}})");
    const auto receiver = std::make_shared<Receiver>();
    OpenTelemetry exporter(only_logs(), receiver);
    tell(exporter, "a");
    receiver->answer = [body](const HttpRequest&) { return HttpResponse{.status = 200, .body = body}; };
    CHECK(exporter.flush().ok());
}

TEST_CASE("a full queue drops what comes on top, and says how much", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    auto config = testing::fixed_config();
    config.max_queue = 5;
    OpenTelemetry exporter(config, receiver);
    for (int i = 0; i < 8; ++i) tell(exporter, "a");
    exporter.report_sink()(testing::summary_report());
    exporter.report_sink()(testing::summary_report());  // four spans: all or none
    CHECK(exporter.waiting() == 5 + 4);
    CHECK(exporter.dropped() == 3 + 4);

    const FlushResult result = exporter.flush();
    CHECK_FALSE(result.ok());
    CHECK(result.items_dropped == 7);
    CHECK(result.logs_sent == 5);
    CHECK(result.spans_sent == 4);
    CHECK(exporter.flush().items_dropped == 0);  // told once
    json dropped;
    for (const json& metric : receiver->metrics()) {
        if (metric["name"] != "whittle.telemetry.dropped") continue;
        for (const json& point : metric["sum"]["dataPoints"])
            dropped[testing::attributes_of(point)["whittle.signal"].get<std::string>()] = point["asInt"];
    }
    CHECK(dropped == json({{"logs", "3"}, {"traces", "4"}}));
}

TEST_CASE("what is being sent keeps its place in the queue, so that it can come back", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    auto config = only_logs();
    config.max_queue = 3;
    OpenTelemetry exporter(config, receiver);
    for (const char* kind : {"a", "b"}) tell(exporter, kind);
    receiver->answer = [&](const HttpRequest&) -> HttpResponse {
        tell(exporter, "c");
        tell(exporter, "d");  // no room
        throw std::runtime_error("cable cut");
    };
    const FlushResult failed = exporter.flush();
    CHECK(failed.items_waiting == 3);
    CHECK(failed.items_dropped == 1);
    receiver->answer = {};
    receiver->requests.clear();
    exporter.flush();
    CHECK(names_of(receiver->records()) == std::vector<std::string>{"whittle.a", "whittle.b", "whittle.c"});
}

TEST_CASE("a large queue goes in batches; those that were taken do not come back", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    auto config = only_logs();
    config.max_batch = 4;
    OpenTelemetry exporter(config, receiver);
    for (int i = 0; i < 10; ++i) tell(exporter, "a");
    receiver->answer = [&](const HttpRequest&) {
        return HttpResponse{.status = receiver->requests.size() < 3 ? 200 : 503};
    };
    const FlushResult broken_off = exporter.flush();
    CHECK(receiver->requests.size() == 3);
    CHECK(broken_off.logs_sent == 8);
    CHECK(broken_off.items_waiting == 2);
    CHECK(broken_off.retry);
    CHECK_FALSE(broken_off.retry_after.has_value());
    receiver->answer = {};
    CHECK(exporter.flush().logs_sent == 2);
}

TEST_CASE("what comes while a flush runs waits for the next one, so that a flush ends", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    OpenTelemetry exporter(only_logs(), receiver);
    tell(exporter, "a");
    receiver->answer = [&](const HttpRequest&) {
        tell(exporter, "b");
        return HttpResponse{.status = 200};
    };
    const FlushResult result = exporter.flush();
    CHECK(result.logs_sent == 1);
    CHECK(result.items_waiting == 1);
}

TEST_CASE("a flush that is stopped keeps everything", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    OpenTelemetry exporter(only_logs(), receiver);
    tell(exporter, "a");
    StopSource stop;
    stop.request_stop();
    const FlushResult result = exporter.flush(stop.get_token());
    CHECK(result.retry);
    CHECK(result.items_waiting == 1);
}

TEST_CASE("no problem names a secret of the address", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    auto config = only_logs();
    config.endpoint = "https://user:secret@collector.example";
    config.headers = {{"Authorization", "Bearer secret"}};
    OpenTelemetry exporter(config, receiver);
    tell(exporter, "a");
    receiver->answer = [](const HttpRequest&) { return HttpResponse{.status = 400}; };
    CHECK(exporter.flush().problems.at(0) == "POST https://collector.example/v1/logs: status 400");
}

TEST_CASE("the sinks keep an exporter alive", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    auto exporter = std::make_unique<OpenTelemetry>(only_logs(), receiver);
    const EventSink sink = exporter->event_sink();
    OpenTelemetry copy = *exporter;
    exporter.reset();
    sink({.kind = "a"});
    CHECK(copy.flush().logs_sent == 1);
}
