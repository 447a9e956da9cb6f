// Private keys in PEM, as they stand in texts.
#pragma once

#include "whittle/base/version.hpp"

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::redaction {

/// The letters, digits and signs of base64.
[[nodiscard]] bool is_base64(char c) noexcept;

/// "-----BEGIN RSA PRIVATE KEY-----", whatever stands around it.
[[nodiscard]] bool begins_private_key(std::string_view line) noexcept;
[[nodiscard]] bool ends_private_key(std::string_view line) noexcept;
/// The same of a certificate, a public key and the like.
[[nodiscard]] bool begins_public_block(std::string_view line) noexcept;

/// A line without what stands around a line of PEM: its number, the mark of a difference or a quote, quotation marks,
/// a line feed as programs write it. Where that begins and ends.
struct LineCore {
    std::size_t begin = 0;
    std::size_t end = 0;
};
[[nodiscard]] LineCore core_of(std::string_view line) noexcept;
/// Base64, in a long line with up to four other signs, or a header of an old form; `core` as `core_of` has it.
[[nodiscard]] bool may_stand_in_key(std::string_view core) noexcept;

/// The private keys within one line, where line feeds stand as "\n": what is to be masked of each, from and to.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> private_keys_in(std::string_view line);
/// Where a key's base64 that begins at `at` ends, over line feeds as "\n".
[[nodiscard]] std::size_t end_of_key_body(std::string_view line, std::size_t at) noexcept;

}  // namespace whittle::inline v0::redaction
