#pragma once

#include "whittle/provider/http_transport.hpp"

#include <chrono>
#include <optional>
#include <string_view>

namespace whittle::inline v0::detail {

/// "34", "0.25", "34.07s" as a duration: a number of seconds without sign, an `s` behind it allowed. At most ten years.
[[nodiscard]] std::optional<std::chrono::milliseconds> read_seconds(std::string_view text) noexcept;

/// Seconds since 1970 of "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, section 5.6.7, the one form that is sent today).
[[nodiscard]] std::optional<std::chrono::seconds> read_http_date(std::string_view text) noexcept;

/// `retry-after-ms`, then `Retry-After` in seconds or as a date, which is counted from the answer's `Date`; a date that
/// has passed is 0.
[[nodiscard]] std::optional<std::chrono::milliseconds> read_retry_after(const HttpHeaders& headers) noexcept;

}  // namespace whittle::inline v0::detail
