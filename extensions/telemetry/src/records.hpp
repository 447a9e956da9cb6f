// Spans and log records, before they are written as JSON.
#pragma once

#include "trace_context.hpp"

#include "whittle/base/clock.hpp"
#include "whittle/base/event.hpp"
#include "whittle/base/random.hpp"
#include "whittle/conversation/report.hpp"
#include "whittle/telemetry/opentelemetry.hpp"

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace whittle::inline v0::telemetry::detail {

struct Attribute {
    std::string_view key{};  ///< static text
    std::variant<std::string, std::int64_t, double, bool> value{};
};

/// SpanKind of the protocol.
enum class SpanKind : std::uint8_t { internal = 1, client = 3 };

struct Span {
    std::string trace_id{};
    std::string span_id{};
    std::string parent_id{};  ///< empty: none
    std::string name{};
    SpanKind kind = SpanKind::internal;
    UnixMillis start = 0;
    UnixMillis end = 0;
    std::vector<Attribute> attributes{};
    bool has_failed = false;
    std::string error{};  ///< for a person; may be empty
};

struct LogRecord {
    UnixMillis time = 0;
    Event::Level level = Event::Level::info;
    std::string name{};  ///< "whittle.committed"
    std::string text{};
    std::string trace_id{};  ///< empty: stands in no trace
    std::string span_id{};
    bool is_sampled = false;
    std::vector<Attribute> attributes{};
};

/// Whether a hook did something worth a span: a stage was due and tried.
[[nodiscard]] bool is_exported(const Report& report) noexcept;

/// The span of a hook that ended at `end`, then one for each stage that was due with the model calls that it made.
[[nodiscard]] std::list<Span> spans_of(const Report& report, const OpenTelemetryConfig& config,
                                       const std::optional<TraceContext>& parent, UnixMillis end);

[[nodiscard]] LogRecord record_of(const Event& event, const OpenTelemetryConfig& config,
                                  const std::optional<TraceContext>& parent, UnixMillis time);

}  // namespace whittle::inline v0::telemetry::detail
