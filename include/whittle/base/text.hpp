#pragma once

#include "whittle/base/version.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

namespace detail {
inline constexpr std::size_t longest_character = 4;  ///< bytes in UTF-8

/// In quotes, fit for one line: control characters escaped, cut after 120 bytes.
[[nodiscard]] std::string in_quotes(std::string_view text);
}  // namespace detail

/// The longest prefix of at most `max_bytes` that splits no character as readers see it: no UTF-8 sequence, and no
/// extended grapheme cluster (UAX #29 of Unicode 16), such as a letter with its accents, a flag, a joined emoji or CR
/// LF. What would become one U+FFFD counts as one character. A cut moves by 32 code points at most, and clusters never
/// make it empty: in what is longer, and in a first cluster that does not fit, it falls between two code points. O(1).
[[nodiscard]] std::string_view grapheme_prefix(std::string_view text, std::size_t max_bytes) noexcept;

/// The longest suffix of at most `max_bytes`, by the same rules.
[[nodiscard]] std::string_view grapheme_suffix(std::string_view text, std::size_t max_bytes) noexcept;

/// The first lines of `text`, each with its line feed; all of it if it has no more.
[[nodiscard]] std::string_view first_lines(std::string_view text, std::int64_t lines) noexcept;

/// The last lines of `text`. A line feed at its end begins no line.
[[nodiscard]] std::string_view last_lines(std::string_view text, std::int64_t lines) noexcept;

/// `text` without an unfinished character at its end that more bytes could complete.
[[nodiscard]] std::string_view without_incomplete_utf8(std::string_view text) noexcept;

/// Well-formed as in Unicode 15, table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] bool is_valid_utf8(std::string_view text) noexcept;

/// `text` with every maximal ill-formed subsequence replaced by U+FFFD (Unicode 15, section 3.9); the same bytes if
/// valid.
[[nodiscard]] std::string to_valid_utf8(std::string_view text);

/// Only blank: empty, or nothing but ASCII white space.
[[nodiscard]] bool is_blank(std::string_view text) noexcept;

/// Number of "\n" in `text`.
[[nodiscard]] std::int64_t count_line_feeds(std::string_view text) noexcept;
/// Number of lines: line feeds, plus one if text follows the last one.
[[nodiscard]] std::int64_t count_lines(std::string_view text) noexcept;

/// ASCII only: A-Z to a-z.
[[nodiscard]] std::string ascii_lower(std::string_view text);

/// The candidate that is most like `word` (edit distance at most a third of its length), or empty.
template <typename Range>
[[nodiscard]] std::string_view closest_match(std::string_view word, const Range& candidates);

/// Levenshtein's distance in bytes: the fewest insertions, removals and replacements that make `b` of `a`. O(a * b).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

template <typename Range>
std::string_view closest_match(std::string_view word, const Range& candidates) {
    std::string_view best;
    std::size_t best_distance = word.size() / 3 + 1;
    for (const auto& candidate : candidates) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

/// Whether `text` is one JSON object (RFC 8259), without recursion on its depth.
[[nodiscard]] bool is_json_object(std::string_view text);

/// `a + b`, held at the ends of the range.
[[nodiscard]] constexpr std::int64_t add_saturating(std::int64_t a, std::int64_t b) noexcept {
    if (b > 0 && a > INT64_MAX - b) return INT64_MAX;
    if (b < 0 && a < INT64_MIN - b) return INT64_MIN;
    return a + b;
}

}  // namespace whittle::inline v0
