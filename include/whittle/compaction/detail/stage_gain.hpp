#pragma once

#include "whittle/base/version.hpp"

#include <cstdint>

namespace whittle::inline v0 {

/// What one stage of the ladder planned.
struct StageGain {
    int count = 0;            ///< results pruned, or media taken out
    std::int64_t tokens = 0;  ///< by the transaction's counter
};

}  // namespace whittle::inline v0
