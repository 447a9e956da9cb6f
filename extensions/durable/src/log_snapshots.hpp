// Snapshots of a log, and what may go once there is one.
#pragma once

#include "log_entry.hpp"

#include <cstdint>
#include <string>

namespace whittle::inline v0::detail {

/// Stores the state after `state.number` and reads it back: its size in bytes. Another's of the same number will do.
/// Throws what the store throws, Error(damaged) if it does not read back.
[[nodiscard]] std::int64_t place_snapshot(Storage& storage, const LogPlace& place, const LogState& state,
                                          const SavedDocument& document);

/// Removes snapshots and entries in front of snapshot `number`, but what branches of the log still read from it.
void shorten_log(Storage& storage, std::string_view root, const LogPlace& place, const LogState& state,
                 std::uint64_t number);

}  // namespace whittle::inline v0::detail
