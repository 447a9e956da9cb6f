#pragma once

#include "whittle/base/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// Throws Error(invalid_argument) for a range that `get` does not take.
inline void require_range(std::string_view key, std::int64_t offset, std::int64_t max_bytes) {
    if (offset < 0 || max_bytes < 0)
        throw Error(Errc::invalid_argument, "get \"" + std::string(key) + "\": offset and max_bytes are 0 or more");
}

}  // namespace whittle::inline v0
