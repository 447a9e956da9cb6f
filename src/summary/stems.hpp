#pragma once

#include "whittle/base/detail/function_ref.hpp"

#include <cstdint>
#include <string_view>

namespace whittle::inline v0::detail {

inline constexpr std::uint64_t fnv_of_nothing = 14'695'981'039'346'656'037U;

/// FNV-1a: the hash of what `hash` is of and one more byte. No matter of trust.
[[nodiscard]] constexpr std::uint64_t fnv_with(std::uint64_t hash, char byte) noexcept {
    return (hash ^ static_cast<unsigned char>(byte)) * 1'099'511'628'211U;
}

/// Visits a hash of the beginning of each word that may say what a text is about, in any language: the first six
/// letters of a word that has as many, each two characters in a row of Chinese and Japanese that are not both hiragana,
/// the first two syllables of a Korean word. Words with a digit among these are none. Forms of one word mostly share a
/// stem. O(size).
void for_each_stem(std::string_view text, FunctionRef<void(std::uint64_t)> visit);

/// A letter or a digit of any script.
[[nodiscard]] bool has_letters(std::string_view text) noexcept;

}  // namespace whittle::inline v0::detail
