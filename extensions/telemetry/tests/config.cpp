// Bad settings.
#include "receiver.hpp"

#include "support/catch.hpp"
#include "whittle/telemetry/prometheus.hpp"

using namespace whittle;
using telemetry::OpenTelemetry;
using telemetry::OpenTelemetryConfig;
using testing::Receiver;

namespace {

/// What the error says of such a configuration; empty if it is taken.
std::string complaint(const OpenTelemetryConfig& config) {
    try {
        OpenTelemetry exporter(config, std::make_shared<Receiver>());
    } catch (const Error& error) {
        CHECK(error.errc() == Errc::invalid_config);
        return error.what();
    }
    return {};
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the defaults are a configuration", "[telemetry]") { CHECK(complaint({}).empty()); }

TEST_CASE("every bad field of a configuration is named at once", "[telemetry]") {
    const OpenTelemetryConfig bad{.endpoint = "localhost:4318",
                                  .headers = {{"bad name", "x"}, {"content-type", "text/plain"}, {"X", "a\r\nb"}},
                                  .resource = {{"", "x"}},
                                  .traces = false,
                                  .logs = false,
                                  .metrics = false,
                                  .max_queue = 0,
                                  .max_batch = 0,
                                  .max_series_per_metric = -1,
                                  .clock = nullptr,
                                  .random = nullptr};
    std::string text;
    try {
        OpenTelemetry exporter(bad, nullptr);
    } catch (const Error& error) {
        text = error.what();
    }
    for (const char* field : {"transport", "endpoint", "headers", "resource", "traces", "max_queue", "max_batch",
                              "max_series_per_metric", "clock", "random"}) {
        CAPTURE(field, text);
        CHECK(has(text, std::string("opentelemetry.") + field));
    }
    CHECK(has(text, "\"bad name\""));
    CHECK(has(text, "\"content-type\""));
    CHECK(has(text, "\"X\""));
}

TEST_CASE("an endpoint is an http or https address without query", "[telemetry]") {
    for (const char* good : {"http://localhost:4318", "https://collector.example/api/otel/", "http://[::1]:4318"}) {
        CAPTURE(good);
        CHECK(complaint({.endpoint = good}).empty());
    }
    for (const char* bad : {"", "collector.example", "ftp://collector.example", "http://", "http:///v1", "https://a?b",
                            "https://a#b", "https://a b", "https://a\nb"}) {
        CAPTURE(bad);
        CHECK(has(complaint({.endpoint = bad}), "opentelemetry.endpoint"));
    }
    CHECK_FALSE(has(complaint({.endpoint = "https://user:secret@host?key=secret"}), "secret"));
}

TEST_CASE("a registry for Prometheus refuses a prefix that cannot be a name", "[telemetry]") {
    for (const char* bad : {"", "9lives", "my-agent", "a b", "{"}) {
        CAPTURE(bad);
        CHECK_THROWS_AS(telemetry::Prometheus({.prefix = bad}), Error);
    }
    CHECK_THROWS_AS(telemetry::Prometheus({.max_series_per_metric = 0}), Error);
    CHECK_NOTHROW(telemetry::Prometheus({.prefix = "my_agent:whittle"}));
}
