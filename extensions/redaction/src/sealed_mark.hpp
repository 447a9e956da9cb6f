#pragma once

#include "whittle/base/version.hpp"

#include <string_view>

namespace whittle::inline v0 {

/// What an object of `whittle::sealing` begins with: it cannot be masked any more.
inline constexpr std::string_view sealed_mark{"whseal\1"};

}  // namespace whittle::inline v0
