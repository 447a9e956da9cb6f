#pragma once

#include "whittle/base/version.hpp"

#include <string>
#include <string_view>

namespace whittle::inline v0::logs {

/// Whether a line of JSON has members whose names tell of tokens or usage. Names within texts, which are escaped there,
/// are none.
[[nodiscard]] bool has_usage(std::string_view line) noexcept;

/// Puts into `shortened` the JSON of `line` with each text of more than 256 bytes cut to about its first and its last
/// 64, with its length between, so that other texts stay other texts mostly. Blanks around a text count for none of it:
/// what is the same without them stays so. What is no JSON stays none.
void shorten_texts(std::string_view line, std::string& shortened);

}  // namespace whittle::inline v0::logs
