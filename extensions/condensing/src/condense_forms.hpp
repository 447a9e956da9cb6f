#pragma once

#include "whittle/condensing/detail/condense.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

// The forms, one for each format. Each finds out whether the text is of it: nullopt if not, or if nothing could go.

[[nodiscard]] std::optional<CondensedText> condense_json(std::string_view text, const CondensingConfig& config,
                                                         Language language);
[[nodiscard]] std::optional<CondensedText> condense_log(std::string_view text, Language language, TextAuthor author);
[[nodiscard]] std::optional<CondensedText> condense_diff(std::string_view text, const CondensingConfig& config,
                                                         Language language);
[[nodiscard]] std::optional<CondensedText> condense_html(std::string_view text, const CondensingConfig& config,
                                                         Language language);
[[nodiscard]] std::optional<CondensedText> condense_table(std::string_view text, const CondensingConfig& config,
                                                          Language language);

/// The form, with both ends only, of whole lines where it has such, if it is longer than that.
[[nodiscard]] CondensedText within(CondensedText form, std::size_t max_bytes, Language language);

/// "12,345"
[[nodiscard]] std::string grouped(std::size_t number);
/// The mark of lines that were left out: "[..12]".
void append_lines_mark(std::string& out, std::size_t lines);

}  // namespace whittle::inline v0::detail
