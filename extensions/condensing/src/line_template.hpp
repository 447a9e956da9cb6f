#pragma once

#include "whittle/base/version.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// What lines of a log have in common that say the same of other things: `line` with "#" in place of numbers, times,
/// hex digits and ids. What a number tells by its kind stays: 0, and that it is 4## or 5##, as the status of a
/// failure is. Appended to `out`.
void append_template(std::string& out, std::string_view line);

/// Whether the line starts as those of logs do: with a time or a level.
[[nodiscard]] bool is_stamped(std::string_view line) noexcept;

/// How many words of letters alone there are between blanks.
[[nodiscard]] std::size_t count_plain_words(std::string_view line) noexcept;

/// A line below an error that belongs to it: of a stack trace, or indented.
[[nodiscard]] bool is_trace_line(std::string_view line) noexcept;

}  // namespace whittle::inline v0::detail
