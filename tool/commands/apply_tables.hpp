#pragma once

#include "commands.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::cli {

/// The files of a run of `apply`. A path is empty if there is none.
struct ApplyPaths {
    std::string in_table{};
    std::string out_table{};
    bool needs_in_table = false;  ///< it was named, so it has to be there
};

/// Where the side tables are. Compares all paths of the command. Throws `UsageError` if one would take the place of
/// another.
[[nodiscard]] ApplyPaths paths_of(const ApplyCommand& command);

/// A side table that may belong to a conversation.
struct TableText {
    std::string path{};
    std::string text{};
    bool was_none = false;  ///< kept as a sign that the conversation had no table
};

/// The table at `path`, then what runs that were killed left kept beside it. Which one belongs, the messages tell.
[[nodiscard]] std::vector<TableText> tables_at(const std::string& path, const InputLimits& limits);

/// Replaces a conversation and its side table. A rename replaces one file, so the rename of the conversation is the
/// point where both count: until then the old table is kept beside the new one, under a name made of the conversation
/// that it belongs to; afterwards what was kept is removed. `table` may be empty. Throws Error(storage_failed).
void replace_both(const std::string& conversation, std::string_view conversation_bytes, const std::string& table,
                  std::string_view table_bytes);

}  // namespace whittle::cli
