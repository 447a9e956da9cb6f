#pragma once

#include "secret_forms.hpp"
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
struct CompiledRedactionRules {
    explicit CompiledRedactionRules(RedactionRules rules);

    bool key = true;
    bool random = true;
    bool named = true;
    bool private_key = true;
    std::array<std::vector<KeyForm>, 256> forms{};  // of `key`, by the first byte
    std::vector<std::string> own_names{};           // of `named`: the host's, in lower case
    RedactionRules given{};

    // What `forms` looks at is in `given`.
    CompiledRedactionRules(const CompiledRedactionRules&) = delete;
    CompiledRedactionRules& operator=(const CompiledRedactionRules&) = delete;
};

using Places = std::map<std::string, std::int64_t>;

/// What was found so far.
struct Found {
    Places places{};
    std::vector<std::string>* secrets = nullptr;  ///< takes each of them as it stood there; null: nobody wants them

    void note(const char* rule, std::string_view secret) {
        ++places[rule];
        if (secrets != nullptr) secrets->emplace_back(secret);
    }
};

constexpr std::size_t least_value_bytes = 8;                 // of the value behind a name
constexpr std::size_t largest_whole = std::size_t{8} << 20;  // of a content that is looked at as a whole

/// Letters, digits, "_", "-" and ".".
[[nodiscard]] bool is_in_word(char c) noexcept;
[[nodiscard]] bool is_number(std::string_view word) noexcept;
/// Whether one of the built-in names, or of the host's, stands anywhere in `word` in any case.
[[nodiscard]] bool holds_name_of_secret(std::string_view word, const CompiledRedactionRules& rules) noexcept;
/// Of the built-in names and the host's.
[[nodiscard]] NameKind kind_of_name(std::string_view name, const CompiledRedactionRules& rules) noexcept;
/// The form that `text` begins with as a key of its service does; `word` is how many bytes its first word has.
[[nodiscard]] const KeyForm* key_form_of(std::string_view text, std::size_t word,
                                         const CompiledRedactionRules& rules) noexcept;

/// Of a key of `size` capitals and digits that `text` begins with, or that its end cuts off; 0: there is none, it reads
/// as words, or more letters and digits follow.
[[nodiscard]] std::size_t size_of_exact_key(std::string_view text, std::size_t size) noexcept;

/// What stands in place of `secret`: a quarter of it at most, and "***".
[[nodiscard]] std::string mask_of(std::string_view secret, std::size_t shown_bytes);

}  // namespace whittle::inline v0::redaction
