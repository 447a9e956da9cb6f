// Edits and whole conversations as JSON. Of an edit: `messages` (stretches `first`, `count` of the list before, and
// what stands there now: `messages` by the codec, `infos`), `known` (pins and marks of messages that stay: `at`,
// `info`), `journal_kept` and `journal` (entries that stay, and new ones), `notes`, `notes_erased`, `counters`,
// `calibrations`; these as in the side table (extensions/saved/README.md).
#pragma once

#include "whittle/durable/detail/saved_edit.hpp"
#include "whittle/saved/detail/side_table_json.hpp"

#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

[[nodiscard]] ordered_json json_of_edit(const SavedEdit& edit);
/// Throws Error(parse_failed) that names `where`.
[[nodiscard]] SavedEdit edit_of(const ordered_json& json, const std::string& where);

/// Two lines: the side table, and the messages as an array.
[[nodiscard]] std::string write_document(const SavedDocument& document);
[[nodiscard]] SavedDocument read_document(std::string_view text);

}  // namespace whittle::inline v0::detail
