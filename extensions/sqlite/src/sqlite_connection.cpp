#include "sqlite_connection.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <thread>
#include <utility>

namespace whittle::inline v0 {
namespace {

constexpr int longest_wait_ms = 20;

/// The reason as SQLite has it, with the system's where there is one.
std::string sqlite_reason(sqlite3* handle, int code) {
    std::string reason = handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
    const int system_error = handle ? sqlite3_system_errno(handle) : 0;
    const int primary = code & 0xff;
    if (system_error != 0 && (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN || primary == SQLITE_FULL))
        reason += fmt::format(" ({})", std::strerror(system_error));
    return reason;
}

}  // namespace

void SqliteFinalize::operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }

SqliteConnection::SqliteConnection(const SqliteAccess& access, std::string operation, SqliteDeadline deadline)
    : operation_(std::move(operation)), deadline_(deadline), check_cancelled_(access.check_cancelled) {
    const int how = access.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    const int flags = how | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE;
    const char* const vfs = access.vfs.empty() ? nullptr : access.vfs.c_str();
    const int code = sqlite3_open_v2(access.path.c_str(), &handle_, flags, vfs);
    if (code == SQLITE_OK) {
        sqlite3_busy_handler(handle_, &SqliteConnection::on_busy, this);
        // Whoever made the file: nothing in it is run.
        for (const int what :
             {SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_TRUSTED_SCHEMA})
            sqlite3_db_config(handle_, what, 0, nullptr);
        constexpr int longest_row = 16 << 20;  // bytes: a chunk is one of 1 MiB
        sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, longest_row);
        constexpr int steps = 10'000;
        if (access.check_cancelled) sqlite3_progress_handler(handle_, steps, &SqliteConnection::on_progress, this);
        return;
    }
    const std::string reason = sqlite_reason(handle_, code);
    sqlite3_close_v2(handle_);
    throw Error(Errc::storage_failed, fmt::format("{}: {}", operation_, reason));
}

SqliteConnection::~SqliteConnection() {
    statements_.clear();
    if (handle_) sqlite3_close_v2(handle_);
}

void SqliteConnection::abandon() noexcept {
    for (auto& [sql, statement] : statements_) (void)statement.release();
    handle_ = nullptr;
}

void SqliteConnection::attempt(std::string operation, SqliteDeadline deadline) {
    operation_ = std::move(operation);
    deadline_ = deadline;
}

/// Waits longer from try to try, and not all the same, so that processes do not meet again and again.
int SqliteConnection::on_busy(void* self, int tries) {
    const auto now = std::chrono::steady_clock::now();
    const auto deadline = static_cast<SqliteConnection*>(self)->deadline_;
    if (now >= deadline) return 0;
    const auto jitter = std::chrono::microseconds(now.time_since_epoch().count() % 997);
    const auto wait = std::chrono::milliseconds(std::min(tries, longest_wait_ms)) + jitter;
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(wait, deadline - now));
    return 1;
}

/// What it throws waits until SQLite has returned.
int SqliteConnection::on_progress(void* self) {
    auto& connection = *static_cast<SqliteConnection*>(self);
    try {
        connection.check_cancelled_();
        return 0;
    } catch (...) {
        connection.thrown_ = std::current_exception();
        return 1;
    }
}

void SqliteConnection::fail(int code) const {
    const int primary = code & 0xff;
    if (primary == SQLITE_INTERRUPT && thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    if (primary == SQLITE_NOMEM) throw std::bad_alloc();
    const std::string reason = sqlite_reason(handle_, code);
    if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB) damaged(reason);
    if (primary == SQLITE_BUSY) fail(fmt::format("others hold the file: {}", reason));
    fail(reason);
}

void SqliteConnection::fail(std::string_view reason) const {
    throw Error(Errc::storage_failed, fmt::format("{}: {}", operation_, reason));
}

void SqliteConnection::damaged(std::string_view reason) const {
    throw Error(Errc::damaged, fmt::format("{}: {}", operation_, reason));
}

void SqliteConnection::require_ok(int code) const {
    if (code != SQLITE_OK) fail(code);
}

void SqliteConnection::run(const char* sql) { require_ok(sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr)); }

SqliteStatement SqliteConnection::prepare(std::string_view sql) {
    sqlite3_stmt* statement = nullptr;
    require_ok(sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                  &statement, nullptr));
    return SqliteStatement(statement);
}

sqlite3_stmt* SqliteConnection::prepared(std::string_view sql) {
    const auto found = statements_.find(sql);
    if (found != statements_.end()) return found->second.get();
    return statements_.emplace(sql, prepare(sql)).first->second.get();
}

std::int64_t SqliteConnection::number(const char* sql) {
    const SqliteStatement statement = prepare(sql);
    const int code = sqlite3_step(statement.get());
    if (code != SQLITE_ROW && code != SQLITE_DONE) fail(code);
    return code == SQLITE_ROW ? sqlite3_column_int64(statement.get(), 0) : 0;
}

std::string SqliteConnection::text(const char* sql) {
    const SqliteStatement statement = prepare(sql);
    const int code = sqlite3_step(statement.get());
    if (code != SQLITE_ROW && code != SQLITE_DONE) fail(code);
    const unsigned char* const found = code == SQLITE_ROW ? sqlite3_column_text(statement.get(), 0) : nullptr;
    return found ? reinterpret_cast<const char*>(found) : "";
}

SqliteQuery::SqliteQuery(SqliteConnection& connection, std::string_view sql)
    : connection_(connection), statement_(connection.prepared(sql)) {}

SqliteQuery::~SqliteQuery() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
}

SqliteQuery& SqliteQuery::with(std::int64_t value) {
    connection_.require_ok(sqlite3_bind_int64(statement_, ++parameters_, value));
    return *this;
}

SqliteQuery& SqliteQuery::with_text(std::string_view value) {
    const char* const text = value.empty() ? "" : value.data();
    connection_.require_ok(
        sqlite3_bind_text64(statement_, ++parameters_, text, value.size(), SQLITE_STATIC, SQLITE_UTF8));
    return *this;
}

SqliteQuery& SqliteQuery::with_blob(std::string_view value) {
    const char* const bytes = value.empty() ? "" : value.data();  // null would be NULL
    connection_.require_ok(sqlite3_bind_blob64(statement_, ++parameters_, bytes, value.size(), SQLITE_STATIC));
    return *this;
}

bool SqliteQuery::step() {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) connection_.fail(code);
    return false;
}

void SqliteQuery::run() {
    while (step()) {
    }
}

std::int64_t SqliteQuery::integer(int column) const noexcept { return sqlite3_column_int64(statement_, column); }

std::string_view SqliteQuery::bytes(int column) const noexcept {
    const void* const bytes = sqlite3_column_blob(statement_, column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return bytes ? std::string_view(static_cast<const char*>(bytes), size) : std::string_view();
}

SqliteTransaction::SqliteTransaction(SqliteConnection& connection, SqliteIntent intent) : connection_(connection) {
    SqliteQuery(connection_, intent == SqliteIntent::write ? "BEGIN IMMEDIATE" : "BEGIN").run();
}

/// A failure of the statements in it may have ended it already.
SqliteTransaction::~SqliteTransaction() {
    if (open_ && sqlite3_get_autocommit(connection_.handle()) == 0)
        sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void SqliteTransaction::commit() {
    SqliteQuery(connection_, "COMMIT").run();
    open_ = false;
}

}  // namespace whittle::inline v0
