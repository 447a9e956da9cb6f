#pragma once

#include "entries.hpp"

#include <optional>
#include <string>
#include <string_view>

/// What opencode writes in the same way whatever the version.
namespace whittle::inline v0::logs {

/// What a row or a document says of a session: its id, else the stem of the file, its parent, version and folder.
void take_opencode_facts(Session& session, const ordered_json& info, const LogOptions& options, LogNotes& notes);

/// "time" of a value, as seconds since 1970.
[[nodiscard]] std::optional<double> opencode_time(const ordered_json& value, const char* key);

/// The same for a message and its copy in a session that was forked: that has another id, and the same times.
/// `model` made the message. Empty: there is nothing to tell it by.
[[nodiscard]] std::string opencode_bill_id(const ordered_json& message, std::string_view model);

/// "tokens" of a step or of a message. Its parts do not overlap, unless its total says that "output" holds "reasoning"
/// or "input" what the cache did. A message begins with nothing but zeros: those are no bill.
[[nodiscard]] std::optional<Usage> opencode_usage(const ordered_json& holder);

/// Of a call, as JSON; "{}" if it has none.
[[nodiscard]] std::string opencode_input(const ordered_json& state);

}  // namespace whittle::inline v0::logs
