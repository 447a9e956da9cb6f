#include "whittle/telemetry/opentelemetry.hpp"

#include "export_queue.hpp"
#include "otlp_client.hpp"
#include "otlp_json.hpp"
#include "records.hpp"
#include "tally.hpp"
#include "whittle/base/detail/ascii.hpp"
#include "whittle/base/detail/field_check.hpp"
#include "whittle/base/text.hpp"
#include "whittle/provider/detail/url_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <numeric>
#include <utility>

namespace whittle::inline v0::telemetry {
namespace {

using detail::Delivery;
using detail::ExportQueue;
using detail::LogRecord;
using detail::Span;
using detail::TraceContext;

bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// RFC 9110, section 5.6.2.
bool is_header_name(std::string_view name) noexcept {
    constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    return !name.empty() && std::ranges::all_of(name, [&](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               marks.find(c) != std::string_view::npos;
    });
}

void check_headers(const HttpHeaders& headers, FieldCheck& check) {
    for (const auto& [name, value] : headers) {
        const std::string shown = fmt::format("\"{}\"", detail::clipped(name, 100));
        const bool is_ours = whittle::detail::same_word(name, "Content-Type") ||
                             whittle::detail::same_word(name, "Content-Length") ||
                             whittle::detail::same_word(name, "Content-Encoding");
        check.error(!is_header_name(name), "headers", shown, "names of HTTP headers");
        check.error(is_ours, "headers", shown, "headers that say nothing of the body");
        const bool has_control = std::ranges::any_of(value, [](char c) { return is_control(c) && c != '\t'; });
        check.error(has_control, "headers", shown, "values without control characters");
    }
}

void check_endpoint_url(std::string_view endpoint, FieldCheck& check) {
    const bool has_scheme = endpoint.starts_with("http://") || endpoint.starts_with("https://");
    const bool has_host = has_scheme && endpoint.substr(endpoint.find("//") + 2).find_first_not_of('/') == 0;
    const bool is_plain =
        std::ranges::none_of(endpoint, [](char c) { return c == '?' || c == '#' || c == ' ' || is_control(c); });
    check.error(!has_host || !is_plain, "endpoint",
                fmt::format("\"{}\"", detail::clipped(whittle::detail::without_secrets(endpoint), 200)),
                "an address that begins with http:// or https://, without query");
}

OpenTelemetryConfig checked(OpenTelemetryConfig config, const std::shared_ptr<HttpTransport>& transport) {
    Problems problems;
    FieldCheck check("opentelemetry", problems);
    check.error(transport == nullptr, "transport", "null", "an HttpTransport");
    check_endpoint_url(config.endpoint, check);
    check_headers(config.headers, check);
    check.error(config.resource.contains(""), "resource", "\"\"", "attributes with a name");
    check.error(!config.traces && !config.logs && !config.metrics, "traces", "false",
                "at least one of traces, logs and metrics");
    check.at_least(config.max_queue, 1, "max_queue");
    check.at_least(config.max_batch, 1, "max_batch");
    check.at_least(config.max_series_per_metric, 1, "max_series_per_metric");
    check.error(config.clock == nullptr, "clock", "null", "a clock");
    check.error(config.random == nullptr, "random", "null", "a source of random numbers");
    problems.throw_if_errors("make an OpenTelemetry exporter");
    config.resource.try_emplace("service.name", "unknown_service");
    return config;
}

}  // namespace

class OpenTelemetry::State {
public:
    State(OpenTelemetryConfig config, std::shared_ptr<HttpTransport> transport)
        : config_(checked(std::move(config), transport)),
          transport_(std::move(transport)),
          start_(config_.clock->now()),
          spans_(config_.max_queue),
          records_(config_.max_queue),
          tally_(static_cast<std::size_t>(config_.max_series_per_metric)) {}

    void event(const Event& event) {
        if (config_.metrics) tally_.event(event);
        if (!config_.logs) return;
        if (records_.is_full()) return report_dropped(records_.drop(1), "logs");
        std::list<LogRecord> one;
        one.push_back(detail::record_of(event, config_, parent(), config_.clock->now()));
        report_dropped(records_.push(std::move(one)), "logs");
    }

    void report(const Report& report) {
        if (config_.metrics) tally_.report(report);
        if (!config_.traces || !detail::is_exported(report)) return;
        const auto context = parent();
        if (context && !context->is_sampled) return;
        report_dropped(spans_.push(detail::spans_of(report, config_, context, config_.clock->now())), "traces");
    }

    FlushResult flush(const StopToken& stop) {
        const std::lock_guard one_at_a_time(flushing_);
        FlushResult result;
        send(spans_, detail::traces_to_json, "/v1/traces", result.spans_sent, result, stop);
        send(records_, detail::logs_to_json, "/v1/logs", result.logs_sent, result, stop);
        if (config_.metrics && !result.retry) send_metrics(result, stop);
        result.items_dropped = spans_.take_unreported() + records_.take_unreported();
        result.items_waiting = waiting();
        return result;
    }

    [[nodiscard]] std::int64_t waiting() const { return spans_.waiting() + records_.waiting(); }
    [[nodiscard]] std::int64_t dropped() const { return spans_.dropped() + records_.dropped(); }

private:
    /// What the host says of its own span; nothing if it does not.
    [[nodiscard]] std::optional<TraceContext> parent() const noexcept {
        if (!config_.traceparent) return std::nullopt;
        try {
            return detail::read_traceparent(config_.traceparent());
        } catch (...) {
            return std::nullopt;
        }
    }

    void report_dropped(std::int64_t dropped, std::string_view signal) {
        if (dropped > 0 && config_.metrics) tally_.dropped(signal, dropped);
    }

    template <typename T, typename Encode>
    void send(ExportQueue<T>& queue, const Encode& encode, std::string_view path, std::int64_t& sent,
              FlushResult& result, const StopToken& stop) {
        std::int64_t rest = queue.waiting();  // what comes meanwhile has time until the next flush
        result.retry = result.retry || (rest > 0 && stop.stop_requested());
        while (rest > 0 && !result.retry && !stop.stop_requested()) {
            typename ExportQueue<T>::Batch batch(queue, std::min(rest, config_.max_batch));
            const auto size = static_cast<std::int64_t>(batch.items().size());
            const Delivery delivery = post(path, encode(batch.items(), config_.resource), size, sent, result, stop);
            if (delivery != Delivery::later) batch.settle();
            rest -= size;
        }
    }

    void send_metrics(FlushResult& result, const StopToken& stop) {
        const auto series = tally_.snapshot();
        const std::int64_t points = std::accumulate(
            series.begin(), series.end(), std::int64_t{0},
            [](std::int64_t sum, const auto& family) { return sum + static_cast<std::int64_t>(family.size()); });
        if (points == 0) return;
        const detail::MetricsContext context{config_.resource, config_.models_by_middleware, start_,
                                             config_.clock->now()};
        post("/v1/metrics", detail::metrics_to_json(series, context), points, result.points_sent, result, stop);
    }

    /// Adds what came of a request with `size` items to the result.
    Delivery post(std::string_view path, std::string body, std::int64_t size, std::int64_t& sent, FlushResult& result,
                  const StopToken& stop) {
        detail::PostResult answer = detail::post(*transport_, config_, path, std::move(body), stop);
        if (!answer.problem.empty()) result.problems.push_back(std::move(answer.problem));
        result.items_rejected = add_saturating(result.items_rejected, std::max<std::int64_t>(0, answer.rejected));
        switch (answer.delivery) {
            case Delivery::taken: sent += size; break;
            case Delivery::refused: result.items_in_refused_requests += size; break;
            case Delivery::later:
                result.retry = true;
                result.retry_after = answer.retry_after;
                break;
        }
        return answer.delivery;
    }

    const OpenTelemetryConfig config_;
    const std::shared_ptr<HttpTransport> transport_;
    const UnixMillis start_;
    ExportQueue<Span> spans_;
    ExportQueue<LogRecord> records_;
    detail::Tally tally_;
    std::mutex flushing_{};
};

OpenTelemetry::OpenTelemetry(OpenTelemetryConfig config, std::shared_ptr<HttpTransport> transport)
    : state_(std::make_shared<State>(std::move(config), std::move(transport))) {}

EventSink OpenTelemetry::event_sink() const {
    return [state = state_](const Event& event) { state->event(event); };
}

std::function<void(const Report&)> OpenTelemetry::report_sink() const {
    return [state = state_](const Report& report) { state->report(report); };
}

FlushResult OpenTelemetry::flush(StopToken stop) { return state_->flush(stop); }

std::int64_t OpenTelemetry::waiting() const { return state_->waiting(); }

std::int64_t OpenTelemetry::dropped() const { return state_->dropped(); }

}  // namespace whittle::inline v0::telemetry
