// Ids of traces and spans, and the header that carries them (W3C Trace Context).
#pragma once

#include "whittle/base/random.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0::telemetry::detail {

/// Where a span of the host stands.
struct TraceContext {
    std::string trace_id{};  ///< 32 hex digits in lower case
    std::string span_id{};   ///< 16; empty: the trace begins here
    bool is_sampled = true;
};

/// What a `traceparent` says; nothing if it is not well-formed.
[[nodiscard]] std::optional<TraceContext> read_traceparent(std::string_view text);

/// Random and never all zeros, which would mean none.
[[nodiscard]] std::string new_trace_id(Random& random);
[[nodiscard]] std::string new_span_id(Random& random);

}  // namespace whittle::inline v0::telemetry::detail
