#pragma once

#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// `text` (ASCII lower case) without what a server quotes of the request: pydantic's `input_value='...'` and
/// `'input': ...`, and what stands in quotes behind "invalid value" and the like. A user's words there say nothing of
/// the failure.
[[nodiscard]] std::string without_echoes(std::string_view text);

}  // namespace whittle::inline v0::detail
