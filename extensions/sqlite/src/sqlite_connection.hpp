#pragma once

#include "whittle/base/version.hpp"

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_blob;
struct sqlite3_stmt;

namespace whittle::inline v0 {

using SqliteDeadline = std::chrono::steady_clock::time_point;

struct SqliteFinalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
};
using SqliteStatement = std::unique_ptr<sqlite3_stmt, SqliteFinalize>;

/// How a file is opened.
struct SqliteAccess {
    std::string path{};  ///< a URI
    std::string vfs{};   ///< of SQLite's registered ones; empty: its default
    bool read_only = false;
    std::function<void()>
        check_cancelled{};  ///< called while a statement takes long; what it throws ends that and gets out
};

/// One connection, used by one thread at a time. Every failure is an Error that begins with what was attempted:
/// `damaged` for a file that is no whole database, else `storage_failed`.
class SqliteConnection {
public:
    SqliteConnection(const SqliteAccess& access, std::string operation, SqliteDeadline deadline);
    ~SqliteConnection();
    SqliteConnection(const SqliteConnection&) = delete;
    SqliteConnection& operator=(const SqliteConnection&) = delete;

    /// What comes next, for error texts, and until when other writers are waited for.
    void attempt(std::string operation, SqliteDeadline deadline);
    [[nodiscard]] const std::string& operation() const noexcept { return operation_; }
    [[nodiscard]] SqliteDeadline deadline() const noexcept { return deadline_; }

    void run(const char* sql);
    /// The first column of the first row, 0 if there is none.
    [[nodiscard]] std::int64_t number(const char* sql);
    [[nodiscard]] std::string text(const char* sql);
    /// Prepared once for each connection.
    [[nodiscard]] sqlite3_stmt* prepared(std::string_view sql);
    [[nodiscard]] SqliteStatement prepare(std::string_view sql);

    [[noreturn]] void fail(int code) const;
    [[noreturn]] void fail(std::string_view reason) const;
    [[noreturn]] void damaged(std::string_view reason) const;
    void require_ok(int code) const;

    [[nodiscard]] sqlite3* handle() const noexcept { return handle_; }
    /// After a fork the parent's connections are left as they are.
    void abandon() noexcept;

private:
    static int on_busy(void* self, int tries);
    static int on_progress(void* self);

    sqlite3* handle_ = nullptr;
    std::string operation_;
    SqliteDeadline deadline_;
    std::function<void()> check_cancelled_;
    mutable std::exception_ptr thrown_{};                     // by it
    std::map<std::string_view, SqliteStatement> statements_;  // keys are constants
};

/// A prepared statement while it is used; reset when this goes.
class SqliteQuery {
public:
    SqliteQuery(SqliteConnection& connection, std::string_view sql);
    ~SqliteQuery();
    SqliteQuery(const SqliteQuery&) = delete;
    SqliteQuery& operator=(const SqliteQuery&) = delete;

    /// The next parameter. Texts and blobs must live until the last step.
    SqliteQuery& with(std::int64_t value);
    SqliteQuery& with_text(std::string_view value);
    SqliteQuery& with_blob(std::string_view value);

    /// Whether there is a row.
    bool step();
    void run();

    [[nodiscard]] std::int64_t integer(int column) const noexcept;
    [[nodiscard]] std::string_view bytes(int column) const noexcept;

private:
    SqliteConnection& connection_;
    sqlite3_stmt* statement_;
    int parameters_ = 0;
};

enum class SqliteIntent { read, write };

/// Rolled back unless it was committed. A writing one has its place among writers from the start.
class SqliteTransaction {
public:
    SqliteTransaction(SqliteConnection& connection, SqliteIntent intent);
    ~SqliteTransaction();
    SqliteTransaction(const SqliteTransaction&) = delete;
    SqliteTransaction& operator=(const SqliteTransaction&) = delete;

    void commit();

private:
    SqliteConnection& connection_;
    bool open_ = true;
};

}  // namespace whittle::inline v0
