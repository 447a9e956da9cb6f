#pragma once

#include "whittle/base/clock.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/random.hpp"
#include "whittle/durable/detail/saved_edit.hpp"
#include "whittle/storage/storage.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

struct LogEntry;

/// A branch that began at an entry of this log, and reads from here what came before.
struct LogFork {
    std::string child{};
    std::uint64_t number = 0;
};

/// What is known of a log once it was read to its end.
struct LogState {
    std::uint64_t number = 0;  ///< of the newest entry that counts; 0: there is none
    std::string sha256{};      ///< of that entry
    std::uint64_t next = 1;    ///< the first number that nobody has taken
    std::string writer{};      ///< who wrote it
    std::uint64_t token = 0;   ///< grows with every writer that opened the log
    UnixMillis until = 0;      ///< the writer's lease
    bool released = false;     ///< the writer gave it back
    std::vector<LogFork> forks{};
    std::uint64_t snapshot = 0;  ///< number of the entry that the newest one covers
    std::int64_t snapshot_after_bytes = 0;
    std::int64_t bytes_since = 0;      ///< of the entries after it
    std::vector<std::uint64_t> cut{};  ///< half-written entries behind `number`: they never counted
};

struct LoadedLog {
    SavedDocument document{};
    LogState state{};
};

/// Reads a log that nobody has to hold. Throws Error(not_found) if there is none, Error(damaged) that names what is
/// broken in the middle, Error(parse_failed) for a newer format.
[[nodiscard]] LoadedLog read_log(Storage& storage, std::string_view root, std::string_view id);

struct LogOptions {
    std::string root{};
    std::string writer{};
    std::int64_t lease_ms = 0;
    std::shared_ptr<Clock> clock{};
    std::shared_ptr<IdSource> ids{};
};

/// One writer's end of a log. Used by one thread at a time.
class DurableLog {
public:
    DurableLog(std::shared_ptr<Storage> storage, std::string id, LogOptions options);

    /// Takes the lease and fences off who had it. Makes the log if there is none.
    [[nodiscard]] SavedDocument open(bool take_over);
    /// Makes the log of a branch. Throws Error(already_exists).
    void create_fork(std::string_view parent, std::uint64_t number);

    std::uint64_t append(SavedEdit edit);
    void renew();
    void release();
    /// The number of the entry that a branch starts at; from here on, what it needs stays.
    std::uint64_t note_fork(std::string_view child);
    /// Writes the state after the newest entry, and removes what no reader needs beside it.
    void write_snapshot(const SavedDocument& document);

    [[nodiscard]] const LogState& state() const noexcept { return state_; }
    /// Half-written entries that opening cut off.
    [[nodiscard]] const std::vector<std::uint64_t>& torn_entries() const noexcept { return cut_; }
    [[nodiscard]] const LogOptions& options() const noexcept { return options_; }
    [[nodiscard]] bool is_half_over() const;

private:
    [[nodiscard]] bool put(LogEntry entry);
    void put_or_throw(LogEntry entry, std::string_view operation);
    void require_open(std::string_view operation) const;
    void end(Errc code, std::string reason);
    [[nodiscard]] std::string winner_text(std::uint64_t number) const;

    std::shared_ptr<Storage> storage_;
    std::string id_;
    LogOptions options_;
    LogState state_{};
    std::vector<std::uint64_t> cut_{};
    std::string ended_{};  // why nothing can be written any more
    Errc ended_by_ = Errc::conflict;
};

/// Writes a snapshot of a log that another may hold, and removes what no reader needs beside it.
std::uint64_t compact_log(Storage& storage, std::string_view root, std::string_view id);

}  // namespace whittle::inline v0::detail
