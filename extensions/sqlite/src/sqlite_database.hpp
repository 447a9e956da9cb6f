#pragma once

#include "sqlite_connection.hpp"
#include "whittle/sqlite/sqlite_storage.hpp"

#include <sys/types.h>

#include <condition_variable>
#include <mutex>
#include <vector>

namespace whittle::inline v0 {

/// One file, opened: its connections, and the turns of those who write. Shared by a storage and its writers, so that a
/// writer may outlive the storage. Thread-safe.
class SqliteDatabase {
public:
    SqliteDatabase(std::string_view path, const SqliteStorageOptions& options, std::string vfs);
    ~SqliteDatabase();
    SqliteDatabase(const SqliteDatabase&) = delete;
    SqliteDatabase& operator=(const SqliteDatabase&) = delete;

    /// A connection for one call. It goes back when the lease goes.
    class Lease {
    public:
        Lease(SqliteDatabase& database, std::unique_ptr<SqliteConnection> connection) noexcept;
        ~Lease();
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        [[nodiscard]] SqliteConnection& operator*() const noexcept { return *connection_; }
        [[nodiscard]] SqliteConnection* operator->() const noexcept { return connection_.get(); }

    private:
        SqliteDatabase& database_;
        std::unique_ptr<SqliteConnection> connection_;
    };

    /// The right to write among the threads of this database: the system's locks, which tell processes apart, are
    /// polled, and threads that wait for each other in line are not.
    class Turn {
    public:
        Turn(SqliteDatabase& database, const SqliteConnection& connection);
        ~Turn();
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

    private:
        SqliteDatabase& database_;
    };

    /// `operation` begins the text of an Error.
    [[nodiscard]] Lease lease(std::string operation);

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] const SqliteStorageOptions& options() const noexcept { return options_; }
    [[nodiscard]] bool is_read_only() const noexcept { return access_.read_only; }
    [[nodiscard]] std::int64_t now_seconds() const;
    /// What was stored then or before has expired.
    [[nodiscard]] std::int64_t expired_at() const;

private:
    [[nodiscard]] SqliteDeadline deadline() const;
    [[nodiscard]] std::unique_ptr<SqliteConnection> connect(std::string operation) const;
    [[nodiscard]] std::unique_ptr<SqliteConnection> open_for_writing(const std::string& operation);
    [[nodiscard]] std::unique_ptr<SqliteConnection> open_for_reading(const std::string& operation);
    void give_back(std::unique_ptr<SqliteConnection> connection) noexcept;

    std::string path_;
    SqliteStorageOptions options_;
    SqliteAccess access_;
    pid_t owner_;

    std::mutex mutex_;
    std::vector<std::unique_ptr<SqliteConnection>> idle_;
    std::condition_variable turn_ended_;
    bool turn_taken_ = false;
};

}  // namespace whittle::inline v0
