#pragma once

#include "overflow_text.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace whittle::inline v0::detail {

/// Whether a sentence of `text` (ASCII lower case) has the form of an overflow: the size of a prompt, an input or all
/// tokens, and that it is more than is allowed. Sizes in characters, bytes, images or tools, limits of the output and
/// of time are none.
[[nodiscard]] std::optional<OverflowNumbers> read_overflow_form(std::string_view text);

/// A limit of tokens in some time that one request exceeds by itself ("Limit 30000, Requested 41211"): waiting does not
/// help, a smaller request does.
[[nodiscard]] std::optional<OverflowNumbers> read_above_rate(std::string_view text);

}  // namespace whittle::inline v0::detail
