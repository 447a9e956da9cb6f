#include "sqlite_streams.hpp"

#include "whittle/base/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace whittle::inline v0 {
namespace {

constexpr int most_tries_for_a_number = 100;

/// The log is synced when the object is committed, so that the pieces before it need not be.
class WithoutSync {
public:
    WithoutSync(SqliteConnection& connection, Durability durability)
        : connection_(connection), lowers_(durability == Durability::full) {
        if (lowers_) connection_.run("PRAGMA synchronous = NORMAL");
    }
    ~WithoutSync() {
        if (!lowers_) return;
        try {
            connection_.run("PRAGMA synchronous = FULL");
        } catch (const std::exception&) {
            return;  // the statement cannot fail but for memory
        }
    }
    WithoutSync(const WithoutSync&) = delete;
    WithoutSync& operator=(const WithoutSync&) = delete;

private:
    SqliteConnection& connection_;
    bool lowers_;
};

std::vector<SqliteStream> streams_of(SqliteConnection& connection) {
    std::vector<SqliteStream> all;
    SqliteQuery query(connection, "SELECT content, token, begun_at FROM streams");
    while (query.step())
        all.push_back({.content = query.integer(0), .token = query.integer(1), .begun_at = query.integer(2)});
    return all;
}

void sweep_stream(SqliteDatabase& database, const SqliteStream& stream) {
    const std::int64_t oldest = database.now_seconds() - database.options().unfinished_write_max_age_seconds;
    const SqliteStreamLock lock(fmt::format("sweep \"{}\"", database.path()), database.path(), stream.content);
    const bool is_abandoned = SqliteStreamLock::is_offered() ? lock.is_held() : stream.begun_at < oldest;
    if (is_abandoned) remove_sqlite_content(database, stream);
}

}  // namespace

bool SqliteStreamLock::is_offered() noexcept {
#ifdef F_OFD_SETLK
    return true;
#else
    return false;
#endif
}

SqliteStreamLock::SqliteStreamLock(const std::string& operation, const std::string& database_path,
                                   std::int64_t content) {
#ifdef F_OFD_SETLK
    fd_ = ::open((database_path + "-writers").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd_ < 0)
        throw Error(Errc::storage_failed, fmt::format("{}: the file of writers: {}", operation, std::strerror(errno)));
    struct flock byte {};
    byte.l_type = F_WRLCK;
    byte.l_whence = SEEK_SET;
    byte.l_start = content;
    byte.l_len = 1;
    held_ = ::fcntl(fd_, F_OFD_SETLK, &byte) == 0;
    if (held_ || errno == EAGAIN || errno == EACCES) return;
    const int error = errno;
    ::close(fd_);
    throw Error(Errc::storage_failed, fmt::format("{}: lock a writer: {}", operation, std::strerror(error)));
#else
    (void)operation, (void)database_path, (void)content;
#endif
}

SqliteStreamLock::~SqliteStreamLock() {
#ifdef F_OFD_SETLK
    struct flock all {};  // a child that was forked meanwhile keeps the file open
    all.l_type = F_UNLCK;
    all.l_whence = SEEK_SET;
    if (held_) ::fcntl(fd_, F_OFD_SETLK, &all);
#endif
    if (fd_ >= 0) ::close(fd_);
}

SqliteContentStream::SqliteContentStream(std::shared_ptr<SqliteDatabase> database, const std::string& operation,
                                         std::string_view first_chunk)
    : database_(std::move(database)) {
    const auto connection = database_->lease(operation);
    const SqliteDatabase::Turn turn(*database_, *connection);
    const WithoutSync without_sync(*connection, database_->options().durability);
    SqliteTransaction transaction(*connection, SqliteIntent::write);
    stream_ = {
        .content = free_sqlite_content(*connection), .token = new_sqlite_token(), .begun_at = database_->now_seconds()};
    // A number whose last owner is just being swept may be locked for a moment.
    for (int tries = 0; SqliteStreamLock::is_offered() && !lock_; ++tries, ++stream_.content) {
        if (tries == most_tries_for_a_number) connection->fail("no number for a stream was free");
        auto lock = std::make_unique<SqliteStreamLock>(operation, database_->path(), stream_.content);
        if (!lock->is_held()) continue;
        lock_ = std::move(lock);
        break;
    }
    add_sqlite_stream(*connection, stream_);
    add_sqlite_chunk(*connection, stream_.content, chunks_++, first_chunk);
    transaction.commit();
}

SqliteContentStream::~SqliteContentStream() {
    if (!is_ours_) return;
    try {
        remove_sqlite_content(*database_, stream_);
    } catch (const std::exception&) {
        return;  // the next opening finds it
    }
}

void SqliteContentStream::require_there(SqliteConnection& connection) const {
    if (!has_sqlite_stream(connection, stream_)) connection.fail("the stream was swept: it was older than allowed");
}

void SqliteContentStream::add(const std::string& operation, std::string_view chunk) {
    const auto connection = database_->lease(operation);
    const SqliteDatabase::Turn turn(*database_, *connection);
    const WithoutSync without_sync(*connection, database_->options().durability);
    SqliteTransaction transaction(*connection, SqliteIntent::write);
    require_there(*connection);
    add_sqlite_chunk(*connection, stream_.content, chunks_, chunk);
    transaction.commit();
    ++chunks_;
}

std::int64_t SqliteContentStream::hand_over(SqliteConnection& connection) {
    require_there(connection);
    remove_sqlite_stream(connection, stream_);
    return stream_.content;
}

void remove_sqlite_content(SqliteDatabase& database, const SqliteStream& stream) {
    for (bool is_left = true; is_left;) {
        const auto connection = database.lease(fmt::format("remove a stream of \"{}\"", database.path()));
        const SqliteDatabase::Turn turn(database, *connection);
        SqliteTransaction transaction(*connection, SqliteIntent::write);
        is_left = shrink_sqlite_stream(*connection, stream);
        transaction.commit();
    }
}

void sweep_sqlite_streams(SqliteDatabase& database) noexcept {
    try {
        std::vector<SqliteStream> streams;
        {
            const auto connection = database.lease(fmt::format("sweep \"{}\"", database.path()));
            streams = streams_of(*connection);
        }
        for (const SqliteStream& stream : streams) sweep_stream(database, stream);
    } catch (const std::exception&) {
        return;  // the next opening tries again
    }
}

}  // namespace whittle::inline v0
