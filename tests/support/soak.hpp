// Exhaustive tests look at a share of their cases, so that scripts/test stays short. With the environment variable
// WHITTLE_SOAK set they look at all of them: the stage `soak` of .ci/run does, and `ctest -L soak`.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace whittle::testing {

[[nodiscard]] inline bool is_soak() { return std::getenv("WHITTLE_SOAK") != nullptr; }

/// Look at every n-th case.
[[nodiscard]] inline std::size_t every(std::size_t n) { return is_soak() ? 1 : n; }

}  // namespace whittle::testing
