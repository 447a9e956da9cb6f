// Whether a word looks as if a program had made it, by chance, or a person had chosen it.
#pragma once

#include "whittle/base/version.hpp"

#include <cstddef>
#include <string_view>

namespace whittle::inline v0::redaction {

/// A run of 32 letters and digits or more that nobody would choose as a name.
[[nodiscard]] bool looks_random(std::string_view word) noexcept;
/// Letters follow each other as in words: "TestOAuth2Rfc6749TokenExchange".
[[nodiscard]] bool reads_as_words(std::string_view word) noexcept;
/// Most of what stands between its slashes reads as words, or is short.
[[nodiscard]] bool is_path(std::string_view value) noexcept;
/// Whether what follows the first `beginning` bytes of a word looks so.
[[nodiscard]] bool is_made(std::string_view word, std::size_t beginning) noexcept;
/// As a key or token does, and not as a hash, a UUID, a path, a number or a name.
[[nodiscard]] bool looks_made(std::string_view value) noexcept;

}  // namespace whittle::inline v0::redaction
