#pragma once

#include "whittle/base/version.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace whittle::inline v0::detail {

inline void sort_unique(std::vector<std::string>& keys) {
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

}  // namespace whittle::inline v0::detail
