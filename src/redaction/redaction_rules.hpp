#pragma once

#include "whittle/redaction/redaction.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::redaction {

/// The rules, ready for use.
struct MaskRules {
    explicit MaskRules(RedactionRules rules);

    bool key = true;
    bool random = true;
    bool named = true;
    bool private_key = true;
    std::vector<std::string> beginnings{};  // of `key`
    std::vector<std::string> names{};       // of `named`, in lower case
    std::array<bool, 256> begins_name{};    // by a name's first byte, in either case
    RedactionRules given{};
};

using Places = std::map<std::string, std::int64_t>;

constexpr std::size_t least_value_bytes = 8;                 // of the value behind a name
constexpr std::size_t largest_whole = std::size_t{8} << 20;  // of a content that is looked at as a whole

/// Letters, digits, "_", "-" and ".".
[[nodiscard]] bool is_in_word(char c) noexcept;
[[nodiscard]] bool is_number(std::string_view word) noexcept;
/// A run of letters and digits that nobody would choose as a name.
[[nodiscard]] bool looks_random(std::string_view word) noexcept;
/// Whether one of the names stands in `word` in any case.
[[nodiscard]] bool names_a_secret(std::string_view word, const MaskRules& rules) noexcept;
/// A key such as "access_token", and not "token_counter" or "tokens".
[[nodiscard]] bool is_key_of_secret(std::string_view key, const std::vector<std::string>& names) noexcept;
[[nodiscard]] bool begins_as_key(std::string_view word, const std::vector<std::string>& beginnings) noexcept;

/// What stands in place of `secret`.
[[nodiscard]] std::string mask_of(std::string_view secret, std::size_t shown_bytes);

}  // namespace whittle::inline v0::redaction
