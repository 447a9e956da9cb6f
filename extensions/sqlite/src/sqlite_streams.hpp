#pragma once

#include "sqlite_contents.hpp"
#include "sqlite_database.hpp"

#include <memory>

namespace whittle::inline v0 {

/// Held as long as a stream is written: a lock on one byte of the file `path-writers`, which the system takes away when
/// the process ends, in whatever container it is.
class SqliteStreamLock {
public:
    /// Tries for the byte `content`. Throws Error(storage_failed), which begins with `operation`, if the file cannot be
    /// had.
    SqliteStreamLock(const std::string& operation, const std::string& database_path, std::int64_t content);
    ~SqliteStreamLock();
    SqliteStreamLock(const SqliteStreamLock&) = delete;
    SqliteStreamLock& operator=(const SqliteStreamLock&) = delete;

    [[nodiscard]] bool is_held() const noexcept { return held_; }

    /// Whether this system has such locks; without, none is held and age decides.
    [[nodiscard]] static bool is_offered() noexcept;

private:
    int fd_ = -1;
    bool held_ = false;
};

/// A content that is written piece by piece, each piece committed: what is seen is the object, which comes last.
class SqliteContentStream {
public:
    /// Writes the first chunk. `operation` begins the texts of errors.
    SqliteContentStream(std::shared_ptr<SqliteDatabase> database, const std::string& operation,
                        std::string_view first_chunk);
    /// Takes the chunks away unless they were given to an object. Fails silently: the next opening sweeps.
    ~SqliteContentStream();
    SqliteContentStream(const SqliteContentStream&) = delete;
    SqliteContentStream& operator=(const SqliteContentStream&) = delete;

    void add(const std::string& operation, std::string_view chunk);

    /// In a transaction that writes: what was written belongs to whoever names this number now.
    [[nodiscard]] std::int64_t hand_over(SqliteConnection& connection);
    /// That transaction was committed.
    void handed_over() noexcept { is_ours_ = false; }

private:
    void require_there(SqliteConnection& connection) const;

    std::shared_ptr<SqliteDatabase> database_;
    SqliteStream stream_;
    std::unique_ptr<SqliteStreamLock> lock_;
    std::int64_t chunks_ = 0;
    bool is_ours_ = true;
};

/// Takes away a content that no object has, in transactions of a few chunks.
void remove_sqlite_content(SqliteDatabase& database, const SqliteStream& stream);

/// Takes away what dead writers and unfinished removals left. Fails silently.
void sweep_sqlite_streams(SqliteDatabase& database) noexcept;

}  // namespace whittle::inline v0
