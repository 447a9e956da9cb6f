#pragma once

#include "whittle/base/version.hpp"

#include <string_view>

namespace whittle::inline v0 {

/// What a sealed object begins with: the name of its layout, and the version of that. Who masks knows these bytes, too:
/// extensions/redaction/src/sealed_mark.hpp.
inline constexpr std::string_view sealed_mark{"whseal\1"};

}  // namespace whittle::inline v0
