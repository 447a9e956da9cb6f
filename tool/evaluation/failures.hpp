#pragma once

#include "whittle/base/version.hpp"

#include <string>
#include <string_view>

namespace whittle::inline v0::evaluation {

/// The last line of a failed result that speaks of an error, else its last line; 300 characters at most. Empty for a
/// result that does not look failed, or with too short a line.
[[nodiscard]] std::string failure_line(std::string_view result);

}  // namespace whittle::inline v0::evaluation
