#pragma once

#include "whittle/base/detail/saturating.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace whittle::inline v0::detail {

/// That part of a known window, at least 1 token; `tokens` where the window or the fraction is 0 or less.
[[nodiscard]] inline std::int64_t size_in_window(std::int64_t tokens, double fraction, std::int64_t window) noexcept {
    if (fraction <= 0.0 || window <= 0) return tokens;
    return std::max<std::int64_t>(1, to_int64(std::floor(static_cast<double>(window) * fraction)));
}

}  // namespace whittle::inline v0::detail
