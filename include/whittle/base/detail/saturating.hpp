#pragma once

#include "whittle/base/text.hpp"

#include <cstdint>

namespace whittle::inline v0 {

/// `a - b`, held at the ends of the range.
[[nodiscard]] constexpr std::int64_t sub_saturating(std::int64_t a, std::int64_t b) noexcept {
    if (b < 0 && a > INT64_MAX + b) return INT64_MAX;
    if (b > 0 && a < INT64_MIN + b) return INT64_MIN;
    return a - b;
}

/// `a * b`, held at the ends of the range.
[[nodiscard]] constexpr std::int64_t mul_saturating(std::int64_t a, std::int64_t b) noexcept {
    if (a == 0 || b == 0) return 0;
    const bool is_negative = (a < 0) != (b < 0);
    const auto size = [](std::int64_t n) {
        return n < 0 ? ~static_cast<std::uint64_t>(n) + 1 : static_cast<std::uint64_t>(n);
    };
    const std::uint64_t most = static_cast<std::uint64_t>(INT64_MAX) + (is_negative ? 1 : 0);
    if (size(a) > most / size(b)) return is_negative ? INT64_MIN : INT64_MAX;
    return is_negative && size(a) * size(b) == most ? INT64_MIN : a * b;
}

/// `value` without what is behind its point, held at the ends of the range; 0 for NaN.
[[nodiscard]] constexpr std::int64_t to_int64(double value) noexcept {
    constexpr double end = 9223372036854775808.0;  // the first above INT64_MAX
    if (value >= end) return INT64_MAX;
    if (value <= -end) return INT64_MIN;
    return value == value ? static_cast<std::int64_t>(value) : 0;
}

}  // namespace whittle::inline v0
