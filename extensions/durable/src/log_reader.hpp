// Reading a log, while others write to it and shorten it.
#pragma once

#include "log_entry.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace whittle::inline v0::detail {

/// Entries in a row that nobody wrote whole, each by a writer that died. More of them is a store that is broken.
inline constexpr std::uint64_t most_half_written = 1'000;

/// The numbers of a log's snapshots up to `upto`, newest first; none where the store has no listing.
[[nodiscard]] std::vector<std::uint64_t> snapshots_of(Storage& storage, const LogPlace& place,
                                                      std::uint64_t upto = UINT64_MAX);

/// Whether `storage` can list, without which nothing is ever removed from a log.
[[nodiscard]] bool can_list(Storage& storage, const LogPlace& place);

/// One log without what it shares with the one that it branched off.
struct LogLevel {
    std::optional<LogSnapshot> base{};
    std::vector<LogEntry> entries{};  ///< after the snapshot, in order
    LogState state{};
};

/// Up to entry `upto`.
[[nodiscard]] LogLevel read_level(Storage& storage, const LogPlace& place, std::uint64_t upto);

/// As `read_log`; of a log that is not there the number is 0.
[[nodiscard]] LoadedLog read_log_if_any(Storage& storage, std::string_view root, std::string_view id);

/// What `entry` makes of the state of its log.
void advance(LogState& state, const LogEntry& entry, std::size_t bytes);

}  // namespace whittle::inline v0::detail
