#pragma once

#include "line_index.hpp"
#include "whittle/trimming/detail/result_class.hpp"
#include "whittle/trimming/detail/trimming_rules.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// The lines that matter of a result that came at call `since`: errors, the ends, what was named since; in place of
/// the others their number. Behind `reference`.
[[nodiscard]] std::string extract_of(std::string_view text, const ResultForm& form, std::string_view reference,
                                     int since, const LineIndex& index, const ExtractSizes& sizes);
/// The first line of what an edit says, and its last errors if it failed. Behind `reference`.
[[nodiscard]] std::string extract_of_edit(std::string_view text, std::string_view reference, const ExtractSizes& sizes);
/// What is left of an extract in the end: its last error, or its last line.
[[nodiscard]] std::string last_of_extract(std::string_view extract, std::string_view reference);

/// `text` as it would be read: without colours, overwritten progress, lines that repeat the one before, and, of hits,
/// paths that repeat those of the hit before. The first `head` bytes stay whole lines and as they are; `reference`
/// stands behind them. Nullopt if that changes the head, or saves fewer than 80 bytes.
[[nodiscard]] std::optional<std::string> folded_output(std::string_view text, std::string_view reference,
                                                       std::size_t head);

}  // namespace whittle::inline v0::detail
