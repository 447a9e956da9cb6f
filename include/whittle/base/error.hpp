#pragma once

#include "whittle/base/version.hpp"

#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace whittle::inline v0 {

/// What kind of thing went wrong. `Error::what()` says what was attempted and why it failed.
enum class Errc {
    invalid_argument = 1,  ///< a call that breaks the function's precondition
    invalid_config,        ///< a configuration with one or more bad fields; the text lists all of them
    invalid_key,           ///< a storage key outside the allowed alphabet or shape
    invalid_history,       ///< a commit would add a violation of the validity profile
    already_exists,        ///< a write-once object exists with other content
    storage_failed,        ///< the store did not accept or return an object
    damaged,               ///< a stored object is shorter than, or differs from, what was written
    not_found,             ///< a named thing does not exist
    not_offered,           ///< this implementation does not offer the operation
    conflict,              ///< changed meanwhile, or held by another: a conversation, its lease, its log
    pinned,                ///< an edit of something that must stay as it is
    limit_exceeded,        ///< a limit of `ChainConfig::limits` or of a quota
    parse_failed,          ///< input is not what its format says
    model_failed,          ///< a model backend failed; `ModelError` carries the class
    cancelled,             ///< stopped by the caller's stop token
    callback_failed,       ///< a user's callback gave what cannot be used; what it throws is thrown as it came
};

[[nodiscard]] std::string_view to_string(Errc code) noexcept;
/// The category of `Errc`, named "whittle". Lives as long as the program.
[[nodiscard]] const std::error_category& error_category() noexcept;
/// For `std::error_code` and `std::system_error`, which find it by argument-dependent lookup.
[[nodiscard]] std::error_code make_error_code(Errc code) noexcept;

/// The one exception type of the library. `what()` is exactly `message`, without the category's text appended.
class Error : public std::system_error {
public:
    /// `message` says what was attempted, and why it failed: "attempted: reason".
    Error(Errc code, std::string message);

    /// The same as `code()`, as the library's own enum.
    [[nodiscard]] Errc errc() const noexcept { return errc_; }
    [[nodiscard]] const char* what() const noexcept override { return message_.what(); }

private:
    Errc errc_;
    std::runtime_error message_;  // copies without throwing
};

/// One bad or doubtful setting.
struct Problem {
    /// A warning is reported, an error is refused.
    enum class Severity { warning, error };
    Severity severity = Severity::error;  ///< error: the configuration is refused; warning: only told
    std::string field{};                  ///< dotted name of the setting, such as "reduction.max_tokens_for_clear"
    std::string value{};                  ///< what was given, as text
    std::string allowed{};                ///< what would be right

    friend bool operator==(const Problem&, const Problem&) = default;
};

/// Collects every problem of a configuration, so that all are reported at once.
class Problems {
public:
    /// Adds a problem that is refused: the three texts are the members of `Problem`.
    void error(std::string field, std::string value, std::string allowed);
    /// Adds a problem that is only reported.
    void warning(std::string field, std::string value, std::string allowed);
    /// Adds all of `other` behind those that are here. `other` may be this object.
    void append(const Problems& other);

    /// In the order in which they were added.
    [[nodiscard]] const std::vector<Problem>& all() const noexcept { return problems_; }
    /// Whether one of them is an error, not only a warning.
    [[nodiscard]] bool has_errors() const noexcept;

    /// Throws `Error(Errc::invalid_config)` that lists every problem of severity error; returns if there is none.
    void throw_if_errors(std::string_view operation) const;

private:
    std::vector<Problem> problems_;
};

/// "field = value: allowed", one line.
[[nodiscard]] std::string to_string(const Problem& problem);

}  // namespace whittle::inline v0

template <>
struct std::is_error_code_enum<whittle::Errc> : std::true_type {};
