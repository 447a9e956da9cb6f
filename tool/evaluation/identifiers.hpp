#pragma once

#include "whittle/base/version.hpp"

#include <cstddef>
#include <string_view>

namespace whittle::inline v0::evaluation {

/// Finds what looks like a name that a person would not repeat by chance, left to right, without overlap: URLs, paths
/// with a slash, words joined by "_", "." or "-", words in camel case, hexadecimal numbers of 7 to 40 digits and
/// decimal ones of 5 or more. Linear in the text.
class IdentifierScanner {
public:
    explicit IdentifierScanner(std::string_view text) noexcept : text_(text) {}
    /// The next one; empty at the end.
    [[nodiscard]] std::string_view next() noexcept;

private:
    using End = std::size_t;  // behind an identifier; 0: there is none

    [[nodiscard]] End end_at(std::size_t at) noexcept;
    [[nodiscard]] End url_end(std::size_t at) const noexcept;
    [[nodiscard]] End path_end(std::size_t at) noexcept;
    [[nodiscard]] End path_end_behind(std::size_t first_end) noexcept;
    [[nodiscard]] End joined_end(std::size_t at) noexcept;
    [[nodiscard]] End camel_end(std::size_t at) noexcept;
    [[nodiscard]] End humps_end(std::size_t at) const noexcept;
    [[nodiscard]] End number_end(std::size_t at) const noexcept;
    [[nodiscard]] std::size_t path_run_end(std::size_t at) const noexcept;
    [[nodiscard]] bool is_word_at(std::size_t at) const noexcept;
    template <typename Is>
    [[nodiscard]] std::size_t run_end(std::size_t at, Is is) const noexcept;

    std::string_view text_;
    std::size_t at_ = 0;
    // What was found out about the run that `at_` is in holds for every later start in it.
    std::size_t path_known_to_ = 0;
    End path_end_ = 0;
    std::size_t no_path_to_ = 0;
    std::size_t joined_run_end_ = 0;
    std::size_t lower_run_end_ = 0;
};

}  // namespace whittle::inline v0::evaluation
