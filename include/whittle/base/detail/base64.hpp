#pragma once

#include "whittle/base/version.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// RFC 4648, section 4, with padding.
[[nodiscard]] std::string to_base64(std::string_view bytes);

/// The exact inverse; nothing for text that `to_base64` cannot give.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace whittle::inline v0
