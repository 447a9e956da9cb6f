#pragma once

#include "whittle/base/version.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// What stands in a message beside what whittle sees: names, cache breakpoints, members that nobody knows. Each value
/// is a word of `[a-z0-9]` that no other has, so that it is found again in a dump. Gives the same for a seed.
class FieldValues {
public:
    /// A value that was given out.
    struct Given {
        std::string value{};                ///< the word
        std::optional<std::size_t> part{};  ///< absent: a field of the message
    };

    /// The same seed gives the same values in the same order.
    explicit FieldValues(std::uint64_t seed) noexcept : seed_(seed) {}
    /// True once in `n` times, from 1: for a field that may be absent, and for which of several shapes a message has.
    [[nodiscard]] bool one_in(std::uint64_t n) noexcept;
    /// For a field of the message, which must outlive every edit.
    [[nodiscard]] std::string value();
    /// For a field of one part, which goes with that part.
    [[nodiscard]] std::string value_of(std::size_t part);
    /// All that were given out, in order.
    [[nodiscard]] const std::vector<Given>& given() const noexcept { return given_; }

private:
    std::uint64_t seed_;
    std::uint64_t draws_ = 0;
    std::vector<Given> given_{};
};

/// How much is tried.
struct ConformanceOptions {
    std::uint64_t seed = 1;  ///< the same messages for a seed
    int messages = 300;      ///< that your type can hold and the suite tries, 1 or more
    /// Told of each failure as it is found: the name of the check, and what was tried. What it throws ends the suite.
    std::function<void(std::string_view check, std::string_view what)> on_failure{};
};

/// One promise, by its name.
struct ConformanceCheck {
    std::string_view name{};     ///< of the check, such as "set_text"
    std::string_view promise{};  ///< what it holds the message type to, one sentence
    std::int64_t tried = 0;      ///< cases
    std::int64_t failed = 0;     ///< of those that were tried
    std::string first{};         ///< what was tried when it failed first; texts in it are cut
};

/// What all checks came to.
struct ConformanceReport {
    std::vector<ConformanceCheck> checks{};  ///< all of them, in the order of extensions/hosts/README.md
    std::int64_t messages = 0;               ///< that were built and tried

    /// No check failed.
    [[nodiscard]] bool passed() const noexcept;
    /// Names of the checks that failed.
    [[nodiscard]] std::vector<std::string> failed_checks() const;
    /// A line for each check that failed, and one with the counts.
    [[nodiscard]] std::string text() const;
};

}  // namespace whittle::inline v0
