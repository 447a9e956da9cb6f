#pragma once

#include "whittle/base/version.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// The rows of a text that is one table. Views of the text.
struct TextTable {
    std::size_t header_rows = 1;           ///< at the front, which always stay
    std::vector<std::string_view> rows{};  ///< with the header's; of CSV a row may have line feeds in quotes
    char delimiter = ',';                  ///< ' ' for columns that stand under each other
};

/// CSV, TSV, Markdown, or columns under a line of capitals, as programs print them; nullopt if it is none. Strict: a
/// text with a line that is no row is no table.
[[nodiscard]] std::optional<TextTable> table_of(std::string_view text);

/// The cells of a row, without blanks and quotes around them.
[[nodiscard]] std::vector<std::string_view> cells_of(std::string_view row, char delimiter);

}  // namespace whittle::inline v0::detail
