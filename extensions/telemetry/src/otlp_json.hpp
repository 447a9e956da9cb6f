// OTLP as JSON: what is posted, and what a server answers. The protocol's JSON differs from protobuf's: ids are hex,
// enumerations numbers.
#pragma once

#include "records.hpp"
#include "tally.hpp"

#include "whittle/base/clock.hpp"

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::telemetry::detail {

using ResourceAttributes = std::map<std::string, std::string>;

[[nodiscard]] std::string traces_to_json(const std::list<Span>& spans, const ResourceAttributes& resource);

[[nodiscard]] std::string logs_to_json(const std::list<LogRecord>& records, const ResourceAttributes& resource);

/// Where and when counting began, and of which models the counts of model calls are, by middleware.
struct MetricsContext {
    const ResourceAttributes& resource;
    const std::map<std::string, GenAiModel>& models;
    UnixMillis start = 0;
    UnixMillis now = 0;
};

[[nodiscard]] std::string metrics_to_json(const std::array<std::vector<Series>, metric_count>& series,
                                          const MetricsContext& context);

/// What a server did not keep of a request that it took.
struct PartialSuccess {
    std::int64_t rejected = 0;
    std::string message{};
};

/// Of the body of an answer with status 200; what cannot be read says nothing.
[[nodiscard]] PartialSuccess read_partial_success(std::string_view body);

/// `message` of the body of an answer with another status; empty if there is none.
[[nodiscard]] std::string read_error_message(std::string_view body);

}  // namespace whittle::inline v0::telemetry::detail
