#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace whittle::cli {

/// `text` for a terminal: what would steer it, or change the order or the place of what stands beside it (control
/// characters, also those above 0x7F, marks of direction, line separators, invisible tags), is written as in JSON:
/// \u001b. Bytes that are not UTF-8 become U+FFFD. Line feeds too are written so: an id cannot make up a line.
[[nodiscard]] std::string shown(std::string_view text);
/// `text` for a terminal with its line feeds as they are: for texts of several lines.
[[nodiscard]] std::string shown_lines(std::string_view text);

/// A text composed of `shown` ones and of colours, after masks: these undo the escapes of a string of JSON that they
/// are in.
[[nodiscard]] std::string shown_again(std::string_view text);

/// JSON text that is the same JSON and that a terminal cannot take for more; `indent` as for `dump`.
[[nodiscard]] std::string shown_json(const nlohmann::ordered_json& json, int indent = 2);

/// A cell of CSV with `text` as for a terminal, in quotes.
[[nodiscard]] std::string csv_cell(std::string_view text);

/// Columns of a terminal that `text`, already shown, takes: 2 for wide characters, 0 for marks on the one before.
[[nodiscard]] std::size_t width_of(std::string_view text);
/// At most `columns` of it, with "..." where something was left out.
[[nodiscard]] std::string clipped_to_width(std::string_view text, std::size_t columns);
/// In lines of at most `columns`, each with its line feed, broken at single blanks; a longer word has a line to itself.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t columns);
/// The same for each of `lines`, which end in line feeds.
[[nodiscard]] std::string wrapped_lines(std::string_view lines, std::size_t columns);

}  // namespace whittle::cli
