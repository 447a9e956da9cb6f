#pragma once

#include "whittle/base/detail/ascii.hpp"
#include "whittle/base/version.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// The lines of `text`, without their line feeds: "a\n" has two, the second one empty.
[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text);

/// Without escape sequences of terminals.
[[nodiscard]] std::string without_colours(std::string_view text);
/// What a terminal shows of a line that returns to its start.
[[nodiscard]] std::string_view last_written(std::string_view line) noexcept;

/// A line number at the front of a line, with what separates it from the line: "  57→", "57\t", "57: ", "57| ".
struct LineNumber {
    std::size_t blanks = 0;  ///< bytes in front of the digits
    std::size_t bytes = 0;   ///< of all of it; 0: there is none
    long long value = 0;
};
[[nodiscard]] LineNumber line_number(std::string_view line) noexcept;

/// Bytes of the path with its separator where `line` is a hit of a search ("src/a.c:12:text", "src/a.c-13-text"), else
/// 0.
[[nodiscard]] std::size_t hit_path(std::string_view line) noexcept;
/// Bytes of path and number of a hit ("src/a.c:12:", "12:", "Line 12: "), else 0.
[[nodiscard]] std::size_t hit_mark(std::string_view line) noexcept;

/// What stands in front of the lines of a text.
enum class LineMarks { none, numbers, diff, hits, some_hits };

/// What a line says, without what a tool put in front of it: the same for a line that is read, found, edited or shown
/// in a diff.
[[nodiscard]] std::string_view normal_line(std::string_view line, LineMarks marks) noexcept;

/// A line says something by itself: others are carried along with their neighbours.
inline constexpr std::size_t shortest_telling_line = 8;

[[nodiscard]] constexpr bool is_ident_start(char c) noexcept { return is_letter(c) || c == '_'; }
[[nodiscard]] constexpr bool is_ident_char(char c) noexcept { return is_alnum(c) || c == '_'; }

/// The words of five characters and more that can name something: [A-Za-z_][A-Za-z0-9_]{4,}.
template <typename Visit>
void for_each_ident(std::string_view text, Visit&& visit) {
    constexpr std::size_t shortest = 5;
    for (std::size_t i = 0; i < text.size();) {
        if (!is_ident_start(text[i])) {
            ++i;
            continue;
        }
        std::size_t end = i + 1;
        while (end < text.size() && is_ident_char(text[end])) ++end;
        if (end - i >= shortest) visit(text.substr(i, end - i));
        i = end;
    }
}

}  // namespace whittle::inline v0::detail
