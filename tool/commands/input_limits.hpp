#pragma once

#include <cstdint>

namespace whittle::cli {

/// What an input may ask of us before it is refused. 0 is no limit.
struct InputLimits {
    std::uint64_t max_bytes = 256U << 20U;  ///< unpacked, of one session, or of a file that is read at once
    std::uint64_t max_ratio = 200;          ///< unpacked to packed bytes, looked at once `free_bytes` are unpacked

    static constexpr std::uint64_t free_bytes = 16U << 20U;
};

}  // namespace whittle::cli
