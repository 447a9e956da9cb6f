#include "whittle/telemetry/prometheus.hpp"

#include "tally.hpp"
#include "whittle/base/detail/field_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace whittle::inline v0::telemetry {
namespace {

using detail::LabelName;
using detail::Metric;
using detail::MetricFamily;
using detail::MetricKind;
using detail::Series;

bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':'; }

bool is_metric_name(std::string_view name) noexcept {
    return !name.empty() && is_letter(name.front()) &&
           std::ranges::all_of(name, [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

PrometheusConfig checked(PrometheusConfig config) {
    Problems problems;
    FieldCheck check("prometheus", problems);
    check.error(!is_metric_name(config.prefix), "prefix", fmt::format("\"{}\"", config.prefix),
                "letters, digits, underscores and colons, no digit in front");
    check.at_least(config.max_series_per_metric, 1, "max_series_per_metric");
    problems.throw_if_errors("make a Prometheus registry");
    return config;
}

std::string_view word_for(MetricKind kind) noexcept {
    switch (kind) {
        case MetricKind::counter: return "counter";
        case MetricKind::gauge: return "gauge";
        case MetricKind::histogram: return "histogram";
    }
    return "untyped";
}

void append_label(std::string& out, std::string_view name, std::string_view value) {
    if (!out.empty()) out += ',';
    out.append(name).append("=\"");
    for (const char c : value) {
        if (c == '\n') {
            out += "\\n";
        } else if (static_cast<unsigned char>(c) < 0x20) {
            out += "\xEF\xBF\xBD";  // U+FFFD: some readers take such bytes for the end
        } else {
            if (c == '\\' || c == '"') out += '\\';
            out += c;
        }
    }
    out += '"';
}

/// Without braces; a label without a value is the same as none.
std::string labels_of(const MetricFamily& family, const Series& series) {
    std::string out;
    for (std::size_t i = 0; i < detail::most_labels; ++i) {
        const std::string_view name = family.labels[i].prometheus;
        const std::string_view value = series.is_overflow ? detail::overflow_label : std::string_view(series.labels[i]);
        if (!name.empty() && !value.empty()) append_label(out, name, value);
    }
    return out;
}

std::string in_braces(const std::string& labels) { return labels.empty() ? labels : "{" + labels + "}"; }

/// Writes the metrics one after the other.
class TextWriter {
public:
    explicit TextWriter(std::string_view prefix) : prefix_(prefix) {}

    void family(const MetricFamily& family, const std::vector<Series>& series) {
        if (family.prometheus.empty() || series.empty()) return;
        const std::string_view end = family.kind == MetricKind::counter ? "_total" : "";
        const std::string name = fmt::format("{}_{}{}", prefix_, family.prometheus, end);
        line("# HELP {} {}\n", name, family.help);
        line("# TYPE {} {}\n", name, word_for(family.kind));
        for (const Series& one : series) {
            if (family.kind == MetricKind::histogram) {
                histogram(name, family, one);
            } else {
                line("{}{} {}\n", name, in_braces(labels_of(family, one)), one.value);
            }
        }
    }

    [[nodiscard]] std::string take() { return std::move(out_); }

private:
    template <typename... Args>
    void line(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    }

    void histogram(const std::string& name, const MetricFamily& family, const Series& series) {
        const std::string labels = labels_of(family, series);
        std::int64_t below = 0;
        for (std::size_t i = 0; i < series.buckets.size(); ++i) {
            below += series.buckets[i];
            std::string with_bound = labels;
            append_label(with_bound, "le", i < family.bounds.size() ? fmt::format("{}", family.bounds[i]) : "+Inf");
            line("{}_bucket{} {}\n", name, in_braces(with_bound), below);
        }
        line("{}_sum{} {}\n", name, in_braces(labels), series.sum);
        line("{}_count{} {}\n", name, in_braces(labels), series.value);
    }

    std::string_view prefix_;
    std::string out_{};
};

}  // namespace

class Prometheus::State {
public:
    explicit State(PrometheusConfig config)
        : prefix(std::move(config.prefix)), tally(static_cast<std::size_t>(config.max_series_per_metric)) {}

    const std::string prefix;
    detail::Tally tally;
};

Prometheus::Prometheus(const PrometheusConfig& config) : state_(std::make_shared<State>(checked(config))) {}

EventSink Prometheus::event_sink() const {
    return [state = state_](const Event& event) { state->tally.event(event); };
}

std::function<void(const Report&)> Prometheus::report_sink() const {
    return [state = state_](const Report& report) { state->tally.report(report); };
}

std::string Prometheus::text() const {
    const auto series = state_->tally.snapshot();
    TextWriter writer(state_->prefix);
    for (std::size_t i = 0; i < detail::metric_count; ++i)
        writer.family(detail::family_of(static_cast<Metric>(i)), series[i]);
    return writer.take();
}

}  // namespace whittle::inline v0::telemetry
