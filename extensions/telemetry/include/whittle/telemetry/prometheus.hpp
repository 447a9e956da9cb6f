#pragma once

#include "whittle/base/event.hpp"
#include "whittle/conversation/report.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace whittle::inline v0::telemetry {

/// How metrics are named, and how many series one may have.
struct PrometheusConfig {
    std::string prefix = "whittle";  ///< of every name, an underscore follows; `[a-zA-Z_:][a-zA-Z0-9_:]*`
    std::int64_t max_series_per_metric =
        200;  ///< of one metric; what comes on top counts under labels that say "_other"
};

/// Counts what chains tell; a host that is scraped answers with `text()`. Thread-safe. A copy is the same one, and the
/// sinks keep it alive. No label holds an id of a conversation.
class Prometheus {
public:
    /// Throws Error(invalid_config) that lists every bad field.
    explicit Prometheus(const PrometheusConfig& config = {});

    /// For `ChainCallbacks`. A hook that was not due allocates nothing, but for the first one of its kind.
    [[nodiscard]] EventSink event_sink() const;
    /// For `ChainCallbacks::on_report`.
    [[nodiscard]] std::function<void(const Report&)> report_sink() const;

    /// All of it in the text format 0.0.4, ordered by metric and labels.
    [[nodiscard]] std::string text() const;

    /// What an answer with `text()` has as its `Content-Type`.
    static constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";

private:
    class State;
    std::shared_ptr<State> state_;
};

}  // namespace whittle::inline v0::telemetry
