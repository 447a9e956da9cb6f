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
    std::size_t most_lines = 24;    ///< of a passage
    std::size_t most_passages = 3;  ///< stretches that stay of a text
    int age_calls = 50;             ///< a line that came up again speaks for its passage for so many calls
    int outcome_calls = 20;         ///< age up to which the end and the errors of an output speak for their passages
};

/// Cuts lines into stretches of at most `most_lines`, each at the best break that the text itself has: the head of a
/// hunk or of a test, a blank line, a line that is indented less than its neighbours. They follow each other without a
/// gap. Linear in the lines, whatever they say.
[[nodiscard]] LineRanges cut_into_passages(std::span<const std::string_view> lines, std::size_t most_lines);

/// What stands in place of lines of a result: `[lines 22-178 of this result left out; read_offloaded("k/6",
/// first_line=22, lines=157)]`. `first` from 1. `key` empty: nothing is stored.
[[nodiscard]] std::string gap_mark(std::uint64_t first, std::uint64_t lines, std::string_view key, Language language);
/// What stands in place of a whole text: `[178 lines left out; read_offloaded("k/6")]`.
[[nodiscard]] std::string text_mark(std::uint64_t lines, std::string_view key, Language language);

}  // namespace whittle::inline v0::detail
