#pragma once

#include "whittle/base/version.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace whittle::inline v0::detail {

/// How many of `parts`, which are sorted, are below `part`.
[[nodiscard]] inline std::size_t count_below(const std::vector<std::size_t>& parts, std::size_t part) {
    return static_cast<std::size_t>(std::ranges::lower_bound(parts, part) - parts.begin());
}

}  // namespace whittle::inline v0::detail
