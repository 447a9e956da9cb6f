// What secrets look like: every rule that the masks know, as tables.
#pragma once

#include "whittle/base/version.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace whittle::inline v0::redaction {

/// How sure the beginning of a word makes that it is a key.
enum class Trust : std::uint8_t {
    sure,     ///< nothing else begins so
    if_made,  ///< words may begin so: what follows has to look as if a program had made it
    wide,     ///< as `sure`, and "+", "/", "=", "~" and ":" belong to it
    exact,    ///< `least` capitals and digits in all, that do not read as words
};

/// A word, or an address, that begins so is a key of the service that gives such keys, from `least` bytes on.
struct KeyForm {
    std::string_view beginning;
    Trust trust = Trust::sure;
    std::size_t least = 16;
};

/// By services' own pages and by what scanners of secrets publish of them; facts as of 2026-11.
[[nodiscard]] std::span<const KeyForm> key_forms() noexcept;

/// How a private key in DER begins as base64, whatever stands around it; "?" is any character.
[[nodiscard]] bool begins_as_private_der(std::string_view base64) noexcept;
/// How what is public does: certificates, and public keys of SSH.
[[nodiscard]] bool begins_as_public_der(std::string_view base64) noexcept;
/// Whether a hash comes behind `text`: "sha512-", "h1:".
[[nodiscard]] bool ends_as_label_of_hash(std::string_view text) noexcept;
/// Of the label of a hash that `text` begins with; 0: it does not.
[[nodiscard]] std::size_t size_of_label_of_hash(std::string_view text) noexcept;

/// What the name of a value says of it.
enum class NameKind : std::uint8_t {
    none,
    doubtful,  ///< such as "key" and "pass": a secret if it looks as if a program had made it
    secret,    ///< such as "password" and "access_token"
};

/// Of "X-API-Key", "accessToken", "DB_PASS"; not of "max_tokens", "next_token", "token_counter" or "public_key".
[[nodiscard]] NameKind kind_of_name(std::string_view name) noexcept;

/// Whether the name of a secret stands anywhere in a name, as in "SECRET_KEY_BASE".
[[nodiscard]] bool holds_name_of_secret(std::string_view name) noexcept;

/// What stands between "Authorization:" and the secret, in lower case.
[[nodiscard]] bool is_scheme_of_authorization(std::string_view word) noexcept;

}  // namespace whittle::inline v0::redaction
