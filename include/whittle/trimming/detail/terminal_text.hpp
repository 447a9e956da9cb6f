#pragma once

#include "whittle/base/version.hpp"

#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// Without escape sequences of terminals.
[[nodiscard]] std::string without_colours(std::string_view text);
/// What a terminal shows of a line that returns to its start.
[[nodiscard]] std::string_view last_written(std::string_view line) noexcept;

}  // namespace whittle::inline v0::detail
