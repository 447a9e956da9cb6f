#pragma once

#include "whittle/base/clock.hpp"
#include "whittle/storage/storage.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// How a store in a file of SQLite behaves.
struct SqliteStorageOptions {
    /// What a power failure can cost: the whole file (`none`), the newest objects (`data`), nothing (`full`). SQLite's
    /// `synchronous`: OFF, NORMAL, FULL.
    Durability durability = Durability::data;
    /// Milliseconds to wait for other writers; 0: not at all. Then Error(storage_failed).
    int busy_timeout_ms = 10'000;
    /// Most bytes of the file, without its log; 0: no limit. More is Error(storage_failed).
    std::int64_t max_file_bytes = 0;
    /// Seconds after which a stored object is absent; 0: never. It is removed at opening and by `remove_expired`.
    std::int64_t expire_after_seconds = 0;
    /// On opening, streams that nobody holds are swept; where the system has no locks of open files (F_OFD_SETLK),
    /// those that began longer ago.
    int unfinished_write_max_age_seconds = 86'400;
    std::shared_ptr<Clock> clock{};  ///< of ages; null: the system's
    /// Called while a statement takes long, from the thread that waits for it; what it throws ends that and gets out.
    std::function<void()> check_cancelled{};
};

/// How much a file holds.
struct SqliteUsage {
    std::int64_t objects = 0;              ///< how many there are
    std::int64_t object_bytes = 0;         ///< sum of their lengths
    std::int64_t file_bytes = 0;           ///< of the file, without its log
    std::int64_t reusable_file_bytes = 0;  ///< of it, for objects to come
};

/// Objects in one file of SQLite. Thread-safe; several processes may open one file.
class SqliteStorage : public Storage {
public:
    /// Reads the whole file: SQLite's integrity check, length and SHA-256 of each object, chunks that belong to
    /// nothing. One line for each problem, at most 100; empty if all is well. Others may write meanwhile. Throws
    /// Error(storage_failed) if the file cannot be read.
    [[nodiscard]] virtual std::vector<std::string> verify() = 0;

    /// Writes what is stored now to the new file `path`, packed (VACUUM INTO) and synced; others may write meanwhile.
    /// The file appears when it is whole. Throws Error(already_exists) if there is one, Error(storage_failed).
    virtual void backup(std::string_view path) = 0;

    /// Removes what is older than `expire_after_seconds`; how many.
    virtual std::int64_t remove_expired() = 0;

    /// What the file holds now. Throws Error(storage_failed).
    [[nodiscard]] virtual SqliteUsage usage() = 0;
};

/// Opens the file `path`, or creates it (mode 0600; its directory must exist, be ours, and be written by nobody else).
/// A file that cannot be written is opened for reading. Beside it stand `path-wal` and `path-shm` while it is open, and
/// `path-writers` once a stream was long. Not on network file systems. A storage that was opened before a fork is
/// refused in the child. Throws Error(storage_failed) with the system's reason, and for a file of another program or of
/// a newer whittle; Error(damaged) for what is no database; Error(invalid_config) for a negative option.
/// extensions/sqlite/README.md tells what each fault leads to.
[[nodiscard]] std::shared_ptr<SqliteStorage> sqlite_storage(std::string_view path,
                                                            const SqliteStorageOptions& options = {});

}  // namespace whittle::inline v0
