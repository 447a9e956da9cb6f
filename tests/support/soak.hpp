// Exhaustive tests look at a share of their cases, so that scripts/test stays short. With the environment variable
// WHITTLE_SOAK set they look at all of them: the stage `soak` of .ci/run does, and `ctest -L soak`.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string_view>

namespace whittle::testing {

[[nodiscard]] inline bool is_soak() { return std::getenv("WHITTLE_SOAK") != nullptr; }

/// WHITTLE_SOAK=sizes: stores are held to the contract at the sizes that they are promised for, as `ctest -C sizes -L
/// sizes` does. It takes tens of GiB of the disk, 6 GiB of memory, and an hour.
[[nodiscard]] inline bool is_soak_of_sizes() {
    return is_soak() && std::getenv("WHITTLE_SOAK") == std::string_view("sizes");
}

/// Look at every n-th case.
[[nodiscard]] inline std::size_t every(std::size_t n) { return is_soak() ? 1 : n; }

}  // namespace whittle::testing
