// Posts to an OTLP/HTTP receiver, and says what its answer means for what was sent.
#pragma once

#include "whittle/base/platform.hpp"
#include "whittle/provider/http_transport.hpp"
#include "whittle/telemetry/opentelemetry.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0::telemetry::detail {

enum class Delivery : std::uint8_t {
    taken,
    refused,  ///< the same request will never be taken
    later,    ///< it may be, after `PostResult::retry_after` or a while
};

struct PostResult {
    Delivery delivery = Delivery::taken;
    std::int64_t rejected = 0;  ///< items of a request that was taken
    std::optional<std::chrono::milliseconds> retry_after{};
    std::string problem{};  ///< for a person; empty: all is well
};

/// `path` begins with a slash. Throws nothing that the transport throws.
[[nodiscard]] PostResult post(HttpTransport& transport, const OpenTelemetryConfig& config, std::string_view path,
                              std::string body, const StopToken& stop);

}  // namespace whittle::inline v0::telemetry::detail
