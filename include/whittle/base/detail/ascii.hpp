// Letters, digits and spaces of ASCII, as protocols and file formats mean them, whatever the locale.
#pragma once

#include "whittle/base/version.hpp"

#include <algorithm>
#include <string_view>

namespace whittle::inline v0::detail {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }
constexpr bool is_letter(char c) noexcept { return is_lower(c) || is_upper(c); }
constexpr bool is_alnum(char c) noexcept { return is_letter(c) || is_digit(c); }
constexpr bool is_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

constexpr char lower(char c) noexcept { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr bool same_word(std::string_view a, std::string_view b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

constexpr std::string_view trim_view(std::string_view text) noexcept {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

/// `words`: any list of texts.
template <typename Words>
constexpr bool is_one_of(std::string_view word, const Words& words) noexcept {
    return std::ranges::find(words, word) != std::ranges::end(words);
}

}  // namespace whittle::inline v0::detail
