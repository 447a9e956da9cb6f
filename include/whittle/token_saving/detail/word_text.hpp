// Bytes of words.
#pragma once

#include "whittle/base/detail/ascii.hpp"
#include "whittle/base/version.hpp"

#include <string_view>

namespace whittle::inline v0::detail {

[[nodiscard]] constexpr bool is_word_byte(char c) noexcept {
    return is_alnum(c) || static_cast<unsigned char>(c) >= 0x80;
}

/// A word without the punctuation at its ends.
[[nodiscard]] std::string_view core_of(std::string_view word) noexcept;

}  // namespace whittle::inline v0::detail
