#include "otlp_json.hpp"

#include "whittle/base/detail/json.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/base/version.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>
#include <variant>

namespace whittle::inline v0::telemetry::detail {
namespace {

using whittle::detail::JsonValue;
using whittle::detail::JsonWriter;

constexpr std::size_t longest_answer = 500;  // bytes of what a server says

/// 64-bit numbers are strings.
std::string decimal(std::int64_t number) { return std::to_string(number); }

std::string nanoseconds(UnixMillis time) {
    return decimal(mul_saturating(std::max<UnixMillis>(0, time), std::int64_t{1'000'000}));
}

std::int64_t severity_of(Event::Level level) noexcept {
    switch (level) {
        case Event::Level::debug: return 5;
        case Event::Level::info: return 9;
        case Event::Level::warning: return 13;
        case Event::Level::error: return 17;
    }
    return 17;
}

std::string_view severity_text(Event::Level level) noexcept {
    switch (level) {
        case Event::Level::debug: return "DEBUG";
        case Event::Level::info: return "INFO";
        case Event::Level::warning: return "WARN";
        case Event::Level::error: return "ERROR";
    }
    return "ERROR";
}

/// Writes the values that all signals have.
class OtlpWriter {
public:
    void attribute(std::string_view key, const std::variant<std::string, std::int64_t, double, bool>& value) {
        json.open_object();
        json.member("key", key);
        json.name("value");
        json.open_object();
        if (const auto* text = std::get_if<std::string>(&value)) json.member("stringValue", *text);
        if (const auto* number = std::get_if<std::int64_t>(&value)) json.member("intValue", decimal(*number));
        if (const auto* real = std::get_if<double>(&value)) json.member("doubleValue", *real);
        if (const auto* flag = std::get_if<bool>(&value)) json.member("boolValue", *flag);
        json.close_object();
        json.close_object();
    }

    void attributes(const std::vector<Attribute>& list) {
        json.name("attributes");
        json.open_array();
        for (const Attribute& one : list) attribute(one.key, one.value);
        json.close_array();
    }

    /// {"resourceSpans":[{"resource":{...},"scopeSpans":[{"scope":{...},"spans":[`items`]}]}]} for "Spans", "spans"
    template <typename Items>
    std::string envelope(std::string_view signal, std::string_view list, const ResourceAttributes& resource,
                         const Items& items) {
        json.open_object();
        json.name(std::string("resource").append(signal));
        json.open_array();
        json.open_object();
        json.name("resource");
        json.open_object();
        json.name("attributes");
        json.open_array();
        for (const auto& [key, value] : resource) attribute(key, value);
        json.close_array();
        json.close_object();
        json.name(std::string("scope").append(signal));
        json.open_array();
        json.open_object();
        scope();
        json.name(list);
        json.open_array();
        items();
        json.close_array();
        json.close_object();
        json.close_array();
        json.close_object();
        json.close_array();
        json.close_object();
        return json.take();
    }

    JsonWriter json{};

private:
    void scope() {
        json.name("scope");
        json.open_object();
        json.member("name", std::string_view("whittle"));
        json.member("version", std::string_view(WHITTLE_VERSION_STRING));
        json.close_object();
    }
};

void write_span(OtlpWriter& out, const Span& span) {
    JsonWriter& json = out.json;
    json.open_object();
    json.member("traceId", span.trace_id);
    json.member("spanId", span.span_id);
    if (!span.parent_id.empty()) json.member("parentSpanId", span.parent_id);
    json.member("flags", 1);  // sampled
    json.member("name", span.name);
    json.member("kind", static_cast<int>(span.kind));
    json.member("startTimeUnixNano", nanoseconds(span.start));
    json.member("endTimeUnixNano", nanoseconds(span.end));
    out.attributes(span.attributes);
    if (span.has_failed) {
        json.name("status");
        json.open_object();
        json.member("code", 2);
        if (!span.error.empty()) json.member("message", span.error);
        json.close_object();
    }
    json.close_object();
}

void write_record(OtlpWriter& out, const LogRecord& record) {
    JsonWriter& json = out.json;
    json.open_object();
    json.member("timeUnixNano", nanoseconds(record.time));
    json.member("observedTimeUnixNano", nanoseconds(record.time));
    json.member("severityNumber", severity_of(record.level));
    json.member("severityText", severity_text(record.level));
    json.member("eventName", record.name);
    if (!record.text.empty()) {
        json.name("body");
        json.open_object();
        json.member("stringValue", record.text);
        json.close_object();
    }
    out.attributes(record.attributes);
    if (!record.trace_id.empty()) {
        json.member("traceId", record.trace_id);
        json.member("spanId", record.span_id);
        json.member("flags", record.is_sampled ? 1 : 0);
    }
    json.close_object();
}

/// Writes metrics, cumulative since the start: a request that is lost is made good by the next one.
class MetricWriter {
public:
    MetricWriter(OtlpWriter& out, const MetricsContext& context) : out_(out), context_(context) {}

    void metric(const MetricFamily& family, const std::vector<Series>& series) {
        if (series.empty()) return;
        json().open_object();
        json().member("name", family.otel);
        json().member("unit", family.unit);
        json().member("description", family.help);
        json().name(family.kind == MetricKind::gauge       ? "gauge"
                    : family.kind == MetricKind::histogram ? "histogram"
                                                           : "sum");
        json().open_object();
        if (family.kind != MetricKind::gauge) json().member("aggregationTemporality", 2);
        if (family.kind == MetricKind::counter) json().member("isMonotonic", true);
        json().name("dataPoints");
        json().open_array();
        for (const Series& one : series) point(family, one);
        json().close_array();
        json().close_object();
        json().close_object();
    }

private:
    [[nodiscard]] JsonWriter& json() noexcept { return out_.json; }

    void point(const MetricFamily& family, const Series& series) {
        json().open_object();
        json().name("attributes");
        json().open_array();
        attributes(family, series);
        json().close_array();
        if (family.kind != MetricKind::gauge) json().member("startTimeUnixNano", nanoseconds(context_.start));
        json().member("timeUnixNano", nanoseconds(context_.now));
        if (family.kind == MetricKind::histogram) {
            histogram(family, series);
        } else {
            json().member("asInt", decimal(series.value));
        }
        json().close_object();
    }

    void attributes(const MetricFamily& family, const Series& series) {
        if (family.is_of_model_calls) out_.attribute("gen_ai.operation.name", std::string("chat"));
        if (series.is_overflow) return out_.attribute("otel.metric.overflow", true);
        for (std::size_t i = 0; i < most_labels; ++i) {
            if (!family.labels[i].otel.empty() && !series.labels[i].empty())
                out_.attribute(family.labels[i].otel, series.labels[i]);
        }
        if (!family.is_of_model_calls) return;
        const auto model = context_.models.find(series.labels[0]);  // the middleware
        if (model == context_.models.end()) return;
        if (!model->second.provider.empty()) out_.attribute("gen_ai.provider.name", model->second.provider);
        if (!model->second.name.empty()) out_.attribute("gen_ai.request.model", model->second.name);
    }

    void histogram(const MetricFamily& family, const Series& series) {
        json().member("count", decimal(series.value));
        json().member("sum", series.sum);
        json().name("bucketCounts");
        json().open_array();
        for (const std::int64_t count : series.buckets) json().value(decimal(count));
        json().close_array();
        json().name("explicitBounds");
        json().open_array();
        for (const double bound : family.bounds) json().value(bound);
        json().close_array();
    }

    OtlpWriter& out_;
    const MetricsContext& context_;
};

/// A number, or a string of digits as protobuf's JSON has it.
std::int64_t read_count(const JsonValue& value) {
    if (const auto number = value.integer()) return std::max<std::int64_t>(0, *number);
    std::int64_t count = 0;
    if (const std::string* text = value.string()) std::from_chars(text->data(), text->data() + text->size(), count);
    return std::max<std::int64_t>(0, count);
}

}  // namespace

std::string traces_to_json(const std::list<Span>& spans, const ResourceAttributes& resource) {
    OtlpWriter out;
    return out.envelope("Spans", "spans", resource, [&] {
        for (const Span& span : spans) write_span(out, span);
    });
}

std::string logs_to_json(const std::list<LogRecord>& records, const ResourceAttributes& resource) {
    OtlpWriter out;
    return out.envelope("Logs", "logRecords", resource, [&] {
        for (const LogRecord& record : records) write_record(out, record);
    });
}

std::string metrics_to_json(const std::array<std::vector<Series>, metric_count>& series,
                            const MetricsContext& context) {
    OtlpWriter out;
    return out.envelope("Metrics", "metrics", context.resource, [&] {
        MetricWriter writer(out, context);
        for (std::size_t i = 0; i < metric_count; ++i) writer.metric(family_of(static_cast<Metric>(i)), series[i]);
    });
}

PartialSuccess read_partial_success(std::string_view body) {
    PartialSuccess partial;
    const auto response = whittle::detail::parse_json(body).find("partialSuccess");
    if (!response) return partial;
    for (const char* name : {"rejectedSpans", "rejectedLogRecords", "rejectedDataPoints"}) {
        if (const auto count = response->find(name)) partial.rejected = read_count(*count);
    }
    if (const std::string* message = response->find_string("errorMessage"))
        partial.message = clipped(*message, longest_answer);
    return partial;
}

std::string read_error_message(std::string_view body) {
    const JsonValue answer = whittle::detail::parse_json(body);
    const std::string* message = answer.find_string("message");
    return message != nullptr ? clipped(*message, longest_answer) : std::string();
}

}  // namespace whittle::inline v0::telemetry::detail
