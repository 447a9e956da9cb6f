#pragma once

#include "whittle/base/version.hpp"

#include <cstdint>
#include <string>

namespace whittle::inline v0 {

/// What an object must be.
struct Fingerprint {
    std::int64_t bytes = 0;
    std::string sha256{};

    friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

}  // namespace whittle::inline v0
