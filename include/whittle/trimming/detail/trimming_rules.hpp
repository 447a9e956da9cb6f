#pragma once

#include "whittle/trimming/config.hpp"

#include <algorithm>
#include <cstddef>

namespace whittle::inline v0::detail {

/// Ages in model calls; a line that came up longer ago may go.
struct LineAges {
    int rare = 0;        ///< near a rare word
    int other = 0;       ///< near none
    int near_lines = 3;  ///< lines around one with a rare word that count with it

    [[nodiscard]] int least() const noexcept { return (std::min)(rare, other); }
};

/// Bytes that stay of an output, by lines.
struct ExtractSizes {
    std::size_t bytes = 300;  ///< of the lines in all
    std::size_t line_bytes = 160;
    std::size_t error_line_bytes = 300;
};

/// What trimming goes by beside its configuration. The values were chosen by measuring (docs/choosing.md) and nobody
/// else has a reason to change one: a test does, so that a short history shows what a long one does. Ages are numbers
/// of model calls.
struct TrimmingRules {
    int first_calls = 20;        ///< model calls that do not count as evidence that the run goes on
    int look_every_calls = 4;    ///< how often old text is looked for
    int argument_age_calls = 2;  ///< age at which what an edit replaced goes

    // By passages.
    int whole_calls = 12;         ///< a result stays whole for that long at least
    int pause_whole_calls = 5;    ///< the same at a pause
    int most_whole_calls = 40;    ///< a read at most, however far back edits reach; at a pause half of it
    int passage_lines = 20;       ///< most lines of a passage
    int passage_age_calls = 50;   ///< a passage goes that nothing has come back to for that long
    int written_age_calls = 100;  ///< age at which a text goes that a call wrote, if nothing has come back to it

    // By lines.
    LineAges ages{.rare = 30, .other = 4};
    LineAges pause_ages{.rare = 4, .other = 4};
    ExtractSizes extract{};
    int extract_age_calls = 10;           ///< age at which one line is left of an extract
    std::size_t arrival_min_bytes = 400;  ///< shorter results stay when they come
    std::size_t arrival_head_chars = 64;  ///< code points at their front that stay as they came
};

[[nodiscard]] inline TrimmingRules rules_of(TrimUnit unit) noexcept {
    TrimmingRules rules;
    if (unit == TrimUnit::lines) rules.first_calls = 10;
    return rules;
}

/// All that trimming goes by.
struct TrimmingSettings {
    TrimmingConfig config{};
    TrimmingRules rules = rules_of(config.unit);
};

}  // namespace whittle::inline v0::detail
