// The objects of a log, as bytes: entries and snapshots. Both begin with a line: `whittle-log` or `whittle-snapshot`,
// the version (2; 1 lacks `counters.sent`), the SHA-256 in hexadecimal of these two, a line feed and what follows. That
// line is the same in all versions. An entry is a JSON object:
//
// * `number`, `previous`, `previous_sha256`: its place, and the entry that it follows; absent in the first
// * `kind`: create, open, commit, renew, release, fork
// * `writer`, `token`, `attempt`, `when`, `until`: who, with which token, a random word, when, and the end of the lease
//   (milliseconds since 1970)
// * `other`, `other_number`: of a fork the branch's id; of a branch's `create` where it comes from
// * `edit`: of a commit, see edit_json.hpp
//
// A snapshot is three lines: `number`, `sha256`, `writer`, `token`, `until`, `released`, `forks` of its log as an
// object; the side table; the messages as an array. It is read back before anything goes. Then older snapshots go, and
// entries in front of it, but not what a branch without a snapshot of its own reads, and not the entry it covers.
#pragma once

#include "whittle/durable/detail/durable_log.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

enum class LogEntryKind { create, open, commit, renew, release, fork };

struct LogEntry {
    LogEntryKind kind = LogEntryKind::commit;
    std::uint64_t number = 0;
    std::string writer{};
    std::uint64_t token = 0;
    std::string attempt{};  ///< random: no two puts have the same bytes
    UnixMillis when = 0;
    UnixMillis until = 0;             ///< of the lease
    std::uint64_t previous = 0;       ///< the entry that this one follows; what stands between was cut
    std::string previous_sha256{};    ///< of its content; empty for the first
    std::string other{};              ///< fork: the branch; create: where a branch comes from
    std::uint64_t other_number = 0;   ///< create: the entry of `other` that it starts at
    std::optional<SavedEdit> edit{};  ///< commit
    std::string sha256{};             ///< of this one's content
};

struct LogSnapshot {
    LogState state{};
    SavedDocument document{};
};

/// The keys of one log.
class LogPlace {
public:
    LogPlace(std::string_view root, std::string_view id);

    [[nodiscard]] const std::string& id() const noexcept { return id_; }
    [[nodiscard]] const std::string& entries() const noexcept { return entries_; }
    [[nodiscard]] const std::string& snapshots() const noexcept { return snapshots_; }
    [[nodiscard]] std::string entry(std::uint64_t number) const;
    [[nodiscard]] std::string snapshot(std::uint64_t number) const;

private:
    std::string id_;
    std::string entries_;
    std::string snapshots_;
};

/// The number at the end of a key; 0 for a key that is none of ours.
[[nodiscard]] std::uint64_t number_of_key(std::string_view key, std::string_view prefix);

/// Sets `entry.sha256`.
[[nodiscard]] std::string write_entry(LogEntry& entry);
/// Throws Error(damaged) for bytes that are no whole entry, Error(parse_failed) for whole ones of a newer format.
[[nodiscard]] LogEntry read_entry(std::string_view bytes, std::string_view key);

[[nodiscard]] std::string write_log_snapshot(const LogState& state, const SavedDocument& document);
[[nodiscard]] LogSnapshot read_log_snapshot(std::string_view bytes, std::string_view key);

}  // namespace whittle::inline v0::detail
