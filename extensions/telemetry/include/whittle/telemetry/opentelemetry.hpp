#pragma once

#include "whittle/base/clock.hpp"
#include "whittle/base/event.hpp"
#include "whittle/base/platform.hpp"
#include "whittle/base/random.hpp"
#include "whittle/conversation/report.hpp"
#include "whittle/provider/http_transport.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// What chains did, for the tools that a host watches its programs with: OpenTelemetry here, Prometheus in
/// prometheus.hpp. extensions/telemetry/README.md has every name. Message content never gets out.
namespace whittle::inline v0::telemetry {

/// A model as OpenTelemetry's GenAI conventions name it.
struct GenAiModel {
    std::string provider{};  ///< `gen_ai.provider.name`, such as "anthropic" or "openai"; empty: not told
    std::string name{};      ///< `gen_ai.request.model`; empty: not told

    friend bool operator==(const GenAiModel&, const GenAiModel&) = default;
};

/// Ten seconds for each exchange, as OpenTelemetry's own exporters have it, and 4 MiB for an answer.
[[nodiscard]] inline HttpLimits default_export_limits() {
    HttpLimits limits;
    limits.connect = limits.first_byte = limits.idle = limits.total = std::chrono::milliseconds{10'000};
    limits.max_response_bytes = 4'194'304;
    return limits;
}

/// Where telemetry goes, and which.
struct OpenTelemetryConfig {
    /// Where an OTLP/HTTP receiver listens, without query; "/v1/traces", "/v1/logs" and "/v1/metrics" follow it.
    std::string endpoint = "http://localhost:4318";
    HttpHeaders headers{};  ///< sent along, such as a key; never in an error text
    std::map<std::string, std::string>
        resource{};                   ///< of the process; without "service.name" that is "unknown_service"
    bool traces = true;               ///< spans of hooks, middlewares and model calls
    bool logs = true;                 ///< events, one record each
    bool metrics = true;              ///< counters, histograms and a gauge
    bool include_event_texts = true;  ///< sentences of events and errors; false: only their kinds
    GenAiModel agent_model{};         ///< the agent's, told with each hook
    std::map<std::string, GenAiModel>
        models_by_middleware{};  ///< by middleware: what it asks for summaries and the like
    /// W3C `traceparent` of the host's span in which a hook runs. Called on the thread of the hook, for each event and
    /// each hook that is told. Absent, empty, not well-formed or throwing: each hook begins a trace of its own. A
    /// parent that is not sampled has no spans below it.
    std::function<std::string()> traceparent{};
    std::int64_t max_queue = 2'048;  ///< spans, and as many log records, that wait; what comes on top is dropped
    std::int64_t max_batch = 512;    ///< spans or log records in one request
    std::int64_t max_series_per_metric = 200;  ///< of one metric; what comes on top counts under `otel.metric.overflow`
    HttpLimits limits = default_export_limits();       ///< of each request
    std::shared_ptr<Clock> clock = system_clock();     ///< of times that are sent; never waited on
    std::shared_ptr<Random> random = system_random();  ///< of trace and span ids
};

/// What came of a `flush`. An item is a span, a log record or a data point of a metric.
struct FlushResult {
    std::int64_t spans_sent = 0;      ///< in requests that the server took
    std::int64_t logs_sent = 0;       ///< likewise
    std::int64_t points_sent = 0;     ///< likewise: data points
    std::int64_t items_rejected = 0;  ///< items of those that the server says it did not keep (partial success)
    std::int64_t items_in_refused_requests =
        0;                           ///< items of requests that the server will never take: gone, but for metrics
    std::int64_t items_dropped = 0;  ///< spans and records that found the queue full, since the flush before
    std::int64_t items_waiting = 0;  ///< spans and records that wait for the next flush
    bool retry = false;              ///< it broke off: server or network may take later what waits
    std::optional<std::chrono::milliseconds> retry_after{};  ///< what the server asked to wait before, if it did
    /// For a person, in the order in which it happened; neither headers nor the query of a URL.
    std::vector<std::string> problems{};

    /// Nothing was lost, and nothing waits because of a failure.
    [[nodiscard]] bool ok() const noexcept {
        return !retry && items_rejected == 0 && items_in_refused_requests == 0 && items_dropped == 0 &&
               problems.empty();
    }
};

/// Collects what chains tell, and sends it over OTLP/HTTP as JSON when the host says so. Thread-safe; has no thread of
/// its own. A copy is the same exporter, and the sinks keep it alive.
class OpenTelemetry {
public:
    /// Throws Error(invalid_config) that lists every bad field.
    OpenTelemetry(OpenTelemetryConfig config, std::shared_ptr<HttpTransport> transport);

    /// For `ChainCallbacks`. Neither sends anything.
    [[nodiscard]] EventSink event_sink() const;
    /// For `ChainCallbacks::on_report`. It sends nothing either.
    [[nodiscard]] std::function<void(const Report&)> report_sink() const;

    /// Sends what waits, then the metrics; blocks for as long as the transport does. One flush runs at a time, chains
    /// can go on meanwhile. It breaks off where a later attempt may succeed (no connection, stopped, status 429, 502,
    /// 503 or 504), and keeps what was not taken; it never waits and never tries twice. Throws only what allocation
    /// throws, and then nothing is lost either.
    FlushResult flush(StopToken stop = {});

    [[nodiscard]] std::int64_t waiting() const;  ///< spans and records, those that are being sent included
    [[nodiscard]] std::int64_t dropped() const;  ///< spans and records that found the queue full, since the beginning

private:
    class State;
    std::shared_ptr<State> state_;
};

}  // namespace whittle::inline v0::telemetry
