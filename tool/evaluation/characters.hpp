#pragma once

#include "whittle/base/version.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::evaluation {

/// Unicode characters; bytes that are not UTF-8 count one by one unless they could follow another.
[[nodiscard]] std::int64_t count_characters(std::string_view text) noexcept;
/// The first, and the last, `characters` of `text`.
[[nodiscard]] std::string_view first_characters(std::string_view text, std::int64_t characters) noexcept;
[[nodiscard]] std::string_view last_characters(std::string_view text, std::int64_t characters) noexcept;
/// Characters at the front, and at the end, that both have.
[[nodiscard]] std::int64_t common_front(std::string_view a, std::string_view b) noexcept;
[[nodiscard]] std::int64_t common_end(std::string_view a, std::string_view b) noexcept;

/// A character within a text: its bytes and its class (`bpe::CharClass`).
struct Character {
    std::size_t bytes = 1;
    unsigned char_class = 0;
    bool is_word = false;  ///< a letter, a number or an underscore
};
[[nodiscard]] Character character_at(std::string_view text, std::size_t at) noexcept;
[[nodiscard]] bool ends_in_word(std::string_view text) noexcept;

/// Without white space at both ends.
[[nodiscard]] std::string_view stripped(std::string_view text) noexcept;
[[nodiscard]] bool has_two_spaces(std::string_view text) noexcept;
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

/// As it stands within a JSON string.
[[nodiscard]] std::string json_escaped(std::string_view text);

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
[[nodiscard]] constexpr bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }
[[nodiscard]] constexpr bool is_alnum(char c) noexcept { return is_digit(c) || is_lower(c) || is_upper(c); }

}  // namespace whittle::inline v0::evaluation
