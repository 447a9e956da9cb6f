#include "sqlite_database.hpp"

#include "sqlite_schema.hpp"
#include "whittle/base/error.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

namespace whittle::inline v0 {
namespace {

constexpr std::size_t most_idle = 8;
constexpr std::int64_t checkpoint_bytes = std::int64_t{16} << 20;

[[noreturn]] void refuse(const std::string& operation, std::string_view reason) {
    throw Error(Errc::storage_failed, fmt::format("{}: {}", operation, reason));
}

/// The path with its directory resolved, since SQLite is told to follow no symbolic link.
std::string resolved_path(const std::string& operation, std::string_view path) {
    const std::size_t slash = path.rfind('/');
    const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
    const std::string directory(slash == std::string_view::npos ? "." : path.substr(0, slash + 1));
    if (name.empty() || name == "." || name == ".." || path.find('\0') != std::string_view::npos)
        refuse(operation, "the path names no file");
    char* const found = ::realpath(directory.c_str(), nullptr);
    if (!found) refuse(operation, std::strerror(errno));
    std::string resolved = found;
    std::free(found);
    if (!resolved.ends_with('/')) resolved += '/';
    return resolved += name;
}

/// Whoever may write beside the file may plant a log for it.
void require_own_directory(const std::string& operation, const std::string& path) {
    const std::string directory = path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
    struct stat status {};
    if (::stat(directory.c_str(), &status) != 0) refuse(operation, std::strerror(errno));
    if (status.st_uid != ::geteuid()) refuse(operation, "the directory belongs to another user");
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) refuse(operation, "others may write to the directory");
}

void require_own_file(const std::string& operation, const std::string& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
        if (errno == ENOENT) return;
        refuse(operation, std::strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) refuse(operation, "not a regular file");
    if (status.st_uid != ::geteuid()) refuse(operation, "the file belongs to another user");
}

std::string uri_of(std::string_view path, std::string_view query) {
    std::string uri = "file:";
    for (const char c : path) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte <= 0x20 || byte >= 0x7f || c == '%' || c == '?' || c == '#') {
            uri += fmt::format("%{:02X}", byte);
        } else {
            uri += c;
        }
    }
    return uri.append(query);
}

const char* synchronous_for(Durability durability) {
    switch (durability) {
        case Durability::none: return "PRAGMA synchronous = OFF";
        case Durability::data: return "PRAGMA synchronous = NORMAL";
        case Durability::full: return "PRAGMA synchronous = FULL";
    }
    return "PRAGMA synchronous = FULL";
}

/// A file that is not trusted runs no code of its own.
void harden(SqliteConnection& connection) {
    sqlite3_db_config(connection.handle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    connection.run("PRAGMA trusted_schema = OFF");
    connection.run("PRAGMA cell_size_check = ON");
}

/// Nobody's busy handler is asked while the log is set up, so this asks again.
void use_write_ahead_log(SqliteConnection& connection) {
    for (int tries = 0;; ++tries) {
        try {
            if (connection.text("PRAGMA journal_mode = WAL") == "wal") return;
            connection.fail("no write-ahead log: the file system cannot share memory");
        } catch (const Error&) {
            const bool busy = (sqlite3_errcode(connection.handle()) & 0xff) == SQLITE_BUSY;
            if (!busy || std::chrono::steady_clock::now() >= connection.deadline()) throw;
            sqlite3_sleep(1 + tries % 10);
        }
    }
}

void set_up_for_writing(SqliteConnection& connection, const SqliteStorageOptions& options) {
    connection.run(synchronous_for(options.durability));
    const std::int64_t page = connection.number("PRAGMA page_size");
    connection.run(fmt::format("PRAGMA wal_autocheckpoint = {}", checkpoint_bytes / page).c_str());
    connection.run(fmt::format("PRAGMA journal_size_limit = {}", 2 * checkpoint_bytes).c_str());
    if (options.max_file_bytes > 0)
        connection.run(
            fmt::format("PRAGMA max_page_count = {}", std::max<std::int64_t>(options.max_file_bytes / page, 1))
                .c_str());
}

}  // namespace

SqliteDatabase::Lease::Lease(SqliteDatabase& database, std::unique_ptr<SqliteConnection> connection) noexcept
    : database_(database), connection_(std::move(connection)) {}

SqliteDatabase::Lease::~Lease() { database_.give_back(std::move(connection_)); }

SqliteDatabase::Turn::Turn(SqliteDatabase& database, const SqliteConnection& connection) : database_(database) {
    if (database_.is_read_only()) connection.fail("the file was opened for reading, since it cannot be written");
    std::unique_lock lock(database_.mutex_);
    if (!database_.turn_ended_.wait_until(lock, connection.deadline(), [&] { return !database_.turn_taken_; }))
        connection.fail("others hold the file: threads of this process write to it");
    database_.turn_taken_ = true;
}

SqliteDatabase::Turn::~Turn() {
    const std::scoped_lock lock(database_.mutex_);
    database_.turn_taken_ = false;
    database_.turn_ended_.notify_one();
}

SqliteDatabase::SqliteDatabase(std::string_view path, const SqliteStorageOptions& options, std::string vfs)
    : options_(options),
      access_{.vfs = std::move(vfs), .check_cancelled = options.check_cancelled},
      owner_(::getpid()) {
    const std::string operation = fmt::format("open \"{}\"", path);
    if (sqlite3_threadsafe() == 0) refuse(operation, "this SQLite was built without threads");
    if (!options_.clock) options_.clock = system_clock();
    path_ = resolved_path(operation, path);
    require_own_directory(operation, path_);
    require_own_file(operation, path_);
    access_.path = uri_of(path_, "");
    const bool is_read_only = ::access(path_.c_str(), F_OK) == 0 && ::access(path_.c_str(), W_OK) != 0;
    idle_.push_back(is_read_only ? open_for_reading(operation) : open_for_writing(operation));
}

std::unique_ptr<SqliteConnection> SqliteDatabase::open_for_writing(const std::string& operation) {
    auto first = std::make_unique<SqliteConnection>(access_, operation, deadline());
    if (::chmod(path_.c_str(), 0600) != 0) refuse(operation, std::strerror(errno));
    harden(*first);
    use_write_ahead_log(*first);
    set_up_for_writing(*first, options_);
    bring_sqlite_schema_up(*first, sqlite_schema_steps());
    return first;
}

/// Where not even the files of a log can be made, and there are none, nobody writes: the file is read as it is.
std::unique_ptr<SqliteConnection> SqliteDatabase::open_for_reading(const std::string& operation) {
    access_.read_only = true;
    const std::string directory = path_.substr(0, path_.rfind('/') + 1);
    const bool has_log = ::access((path_ + "-wal").c_str(), F_OK) == 0;
    if (!has_log && ::access(directory.c_str(), W_OK) != 0) access_.path = uri_of(path_, "?immutable=1");
    auto first = connect(operation);
    require_sqlite_schema(*first, sqlite_schema_steps());
    return first;
}

SqliteDatabase::~SqliteDatabase() {
    if (::getpid() == owner_) return;
    for (const auto& connection : idle_) connection->abandon();
}

SqliteDeadline SqliteDatabase::deadline() const {
    return std::chrono::steady_clock::now() + std::chrono::milliseconds(options_.busy_timeout_ms);
}

std::unique_ptr<SqliteConnection> SqliteDatabase::connect(std::string operation) const {
    auto connection = std::make_unique<SqliteConnection>(access_, std::move(operation), deadline());
    harden(*connection);
    if (!access_.read_only) set_up_for_writing(*connection, options_);
    return connection;
}

SqliteDatabase::Lease SqliteDatabase::lease(std::string operation) {
    if (::getpid() != owner_) refuse(operation, "the storage was opened before a fork: open it again in the child");
    std::unique_ptr<SqliteConnection> connection;
    {
        const std::scoped_lock lock(mutex_);
        if (!idle_.empty()) {
            connection = std::move(idle_.back());
            idle_.pop_back();
        }
    }
    if (!connection) return {*this, connect(std::move(operation))};
    connection->attempt(std::move(operation), deadline());
    return {*this, std::move(connection)};
}

void SqliteDatabase::give_back(std::unique_ptr<SqliteConnection> connection) noexcept {
    try {
        const std::scoped_lock lock(mutex_);
        if (idle_.size() < most_idle) idle_.push_back(std::move(connection));
    } catch (...) {
        return;  // it is closed
    }
}

std::int64_t SqliteDatabase::now_seconds() const { return options_.clock->now() / 1'000; }

std::int64_t SqliteDatabase::expired_at() const {
    if (options_.expire_after_seconds == 0) return std::numeric_limits<std::int64_t>::min();
    return now_seconds() - options_.expire_after_seconds;
}

}  // namespace whittle::inline v0
