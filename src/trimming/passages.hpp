#pragma once

#include "read_form.hpp"
#include "whittle/base/language.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// Which passages of a text stay.
struct PassageRules {
    std::size_t most_lines = 0;     ///< of a passage
    std::size_t most_passages = 0;  ///< stretches that stay of a text
    int age_calls = 0;              ///< a line that came up again speaks for its passage for so many calls
    int outcome_calls = 0;          ///< age up to which the end and the errors of an output speak for their passages
};

/// Cuts lines into stretches of at most `most_lines`, each at the best break that the text itself has: the head of a
/// hunk or of a test, a blank line, a line that is indented less than its neighbours. They follow each other without a
/// gap. Linear in the lines, whatever they say.
[[nodiscard]] LineRanges cut_into_passages(std::span<const std::string_view> lines, std::size_t most_lines);

/// What stands in place of a text that went: how much, from where, and how to get it back.
struct TextMark {
    std::string_view reference{};  ///< as `reference_to` has it; empty: nothing is stored
    std::string_view reader{};     ///< the tool that shows it
    Language language = Language::english;

    /// `[lines 22-178 of this result left out; read_offloaded("k/6", first_line=22, lines=157)]`; `first` from 1.
    [[nodiscard]] std::string of_lines(std::uint64_t first, std::uint64_t lines) const;
    /// `[all 178 lines of this result left out; read_offloaded("k/6")]`; of a single line its bytes.
    [[nodiscard]] std::string of_result(std::uint64_t lines, std::uint64_t bytes) const;
    /// `[48 lines of old_string left out; read_offloaded("k/6a") gives this whole call]`; `name`: of the argument.
    [[nodiscard]] std::string of_argument(std::string_view name, std::uint64_t lines, std::uint64_t bytes) const;
};

/// Calls until a text of that age is looked at again: each look costs its text, so that they grow rarer with age.
[[nodiscard]] constexpr int calls_until_next_look(int age) noexcept {
    constexpr int least = 8;
    return age / 4 > least ? age / 4 : least;
}

}  // namespace whittle::inline v0::detail
