#pragma once

#include <string>
#include <string_view>

namespace whittle::cli {

/// `text` between tags and in quoted attributes of HTML and SVG: what would end or begin something there is written as
/// a reference, control characters become spaces.
[[nodiscard]] std::string escaped_markup(std::string_view text);

}  // namespace whittle::cli
