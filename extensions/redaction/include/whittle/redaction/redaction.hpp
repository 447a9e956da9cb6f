#pragma once

#include "whittle/base/version.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

namespace redaction {
struct CompiledRedactionRules;
}

/// What is masked. The built-in rules are `key` (keys of well-known services), `random` (long words of mixed letters
/// and digits that do not read as words), `named` (values behind a name such as "password", and passwords of addresses
/// and commands) and `private_key` (private keys in PEM, also parts of them). extensions/redaction/README.md tells what
/// each finds, and what none.
struct RedactionRules {
    std::vector<std::string> disabled{};          ///< names of built-in rules that are not used
    std::vector<std::string> api_key_prefixes{};  ///< further ones for `key`: of words of 16 bytes or more
    std::vector<std::string>
        secret_field_names{};                 ///< further ones for `named`: of letters, digits and "_", in any case
    std::vector<std::string> secret_words{};  ///< masked wherever they stand, as the rule `word`; 4 bytes or more each
    /// The host's own rule, `custom_rule`: given a line of a text, or a string of a JSON text, after the other rules,
    /// it returns what is to stand there, or nullopt where it masks nothing. The same for the same text, no change in
    /// what it has returned, and no line feed in what had none; called from any thread. What it throws gets out.
    std::function<std::optional<std::string>(std::string_view text)> custom_rule{};
    std::size_t shown_prefix_bytes =
        0;  ///< from the front of what is masked that stay, in front of "***"; a quarter of it at most
};

/// A text without what the rules found.
struct Redacted {
    std::string text{};                            ///< with masks in place of what was found
    std::map<std::string, std::int64_t> places{};  ///< how many, by rule; empty: `text` is as it was given

    /// Sum of `places`.
    [[nodiscard]] std::int64_t count() const noexcept;
};

/// Masks texts. The same text gives the same masks, and none is masked twice. Thread-safe, if
/// `RedactionRules::custom_rule` is; copies share the rules.
class Redactor {
public:
    /// Throws Error(invalid_config) that lists every bad rule.
    explicit Redactor(RedactionRules rules = {});

    /// Line by line. A line longer than 64 KiB is cut behind a character that ends every value, such as a comma; what
    /// has none for 64 KiB is cut there, and a secret that is cut is not found.
    [[nodiscard]] Redacted text(std::string_view text) const;
    /// JSON text with its strings, and its keys, masked one by one, and a string of 8 bytes or more under a key such as
    /// "password" as a whole; strings that hold JSON likewise. Everything else keeps its bytes, so that JSON stays
    /// JSON.
    [[nodiscard]] Redacted json(std::string_view json) const;
    /// As what it is: one JSON text of at most 8 MiB, or a text in which lines, or what stands between the
    /// braces of one, may be JSON.
    [[nodiscard]] Redacted text_or_json(std::string_view text_or_json) const;

    /// What `text_or_json` masks, each as it stood there, a private key by its lines; what
    /// `RedactionRules::custom_rule` masks is not among it. For texts that are cut afterwards.
    [[nodiscard]] std::vector<std::string> secrets(std::string_view text_or_json) const;

    /// For the library's own use.
    [[nodiscard]] const redaction::CompiledRedactionRules& rules() const noexcept { return *rules_; }

private:
    std::shared_ptr<const redaction::CompiledRedactionRules> rules_;
};

}  // namespace whittle::inline v0
