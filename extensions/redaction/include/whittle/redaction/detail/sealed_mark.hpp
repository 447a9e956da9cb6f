#pragma once

#include <string_view>

namespace whittle::inline v0 {

/// What a sealed object begins with: the name of its layout, and the version of that. Here, since who masks has to know
/// sealed bytes too.
inline constexpr std::string_view sealed_mark{"whseal\1"};

}  // namespace whittle::inline v0
