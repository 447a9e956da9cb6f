// Lines that are data rather than prose: words left out of them would change what they say.
#pragma once

#include "whittle/base/version.hpp"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// A part of a text by its bytes.
struct Stretch {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// Which lines are settings (`key = value`, `key: value`), tables (CSV, tabs, bars) or differences (the lines of a
/// hunk, of `diff` and of `diff -c`). In a paragraph of which at least a third are settings all lines count, and so do
/// three lines or more in a row with the same number of commas, two or more. O(size).
[[nodiscard]] std::vector<bool> find_data_lines(std::string_view text, std::span<const Stretch> lines);

}  // namespace whittle::inline v0::detail
