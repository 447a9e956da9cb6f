// Bytes of words.
#pragma once

#include "whittle/base/version.hpp"

#include <string_view>

namespace whittle::inline v0::detail {

[[nodiscard]] constexpr bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
[[nodiscard]] constexpr bool is_blank_byte(char c) noexcept {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}
[[nodiscard]] constexpr bool is_word_byte(char c) noexcept {
    return is_letter(c) || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
}

/// A word without the punctuation at its ends.
[[nodiscard]] std::string_view core_of(std::string_view word) noexcept;

}  // namespace whittle::inline v0::detail
