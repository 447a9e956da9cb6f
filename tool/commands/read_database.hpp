#pragma once

#if WHITTLE_READS_SQLITE

#    include "interrupt.hpp"
#    include "whittle/base/error.hpp"

#    include <fmt/format.h>
#    include <sqlite3.h>

#    include <algorithm>
#    include <cstddef>
#    include <filesystem>
#    include <map>
#    include <memory>
#    include <string>
#    include <system_error>
#    include <utility>
#    include <vector>

namespace whittle::cli {

/// A database of somebody else that is only read: nothing in it is run, and Ctrl-C ends what takes long.
class ReadDatabase {
public:
    /// `max_bytes`: of a row. `expected`: what it should be, for error texts. Throws Error(parse_failed) if SQLite
    /// cannot open it.
    ReadDatabase(const std::string& path, std::size_t max_bytes, const char* expected)
        : path_(path), expected_(expected) {
        sqlite3* opened = nullptr;
        const int result =
            sqlite3_open_v2(uri_of(path).c_str(), &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
        database_.reset(opened);
        if (result != SQLITE_OK) fail();
        sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
        for (const int what :
             {SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_TRUSTED_SCHEMA})
            sqlite3_db_config(opened, what, 0, nullptr);
        constexpr std::size_t most = 1'000'000'000;  // as SQLite has it
        sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, static_cast<int>(std::min(max_bytes, most)));
        constexpr int steps = 10'000;
        sqlite3_progress_handler(
            opened, steps, [](void*) { return signal_received() != 0 ? 1 : 0; }, nullptr);
        sqlite3_busy_timeout(opened, 2'000);
    }

    /// Calls `visit` with the columns of each row, as texts or bytes; NULL is "". Throws Error(parse_failed) with what
    /// SQLite says.
    template <typename Visit>
    void each_row(const std::string& query, const std::string& parameter, const Visit& visit) const {
        Statement statement = take_statement(query);
        sqlite3_stmt* const made = statement.get();
        if (sqlite3_bind_parameter_count(made) > 0)
            sqlite3_bind_text(made, 1, parameter.data(), static_cast<int>(parameter.size()), SQLITE_TRANSIENT);
        std::vector<std::string> columns(static_cast<std::size_t>(sqlite3_column_count(made)));
        for (int step = sqlite3_step(made); step != SQLITE_DONE; step = sqlite3_step(made)) {
            if (step != SQLITE_ROW) fail();
            throw_if_interrupted();
            for (std::size_t c = 0; c < columns.size(); ++c) {
                const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(made, static_cast<int>(c)));
                columns[c].assign(text == nullptr ? "" : text,
                                  static_cast<std::size_t>(sqlite3_column_bytes(made, static_cast<int>(c))));
            }
            visit(columns);
        }
        sqlite3_reset(made);
        statements_.insert_or_assign(query, std::move(statement));
    }

private:
    struct Close {
        void operator()(sqlite3* database) const noexcept { sqlite3_close(database); }
    };
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
    };

    using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

    /// One that was prepared before and is in no use, else a new one: to prepare one takes as long as many rows.
    Statement take_statement(const std::string& query) const {
        if (const auto prepared = statements_.find(query); prepared != statements_.end())
            return std::move(statements_.extract(prepared).mapped());
        sqlite3_stmt* made = nullptr;
        if (sqlite3_prepare_v2(database_.get(), query.c_str(), -1, &made, nullptr) != SQLITE_OK) fail();
        return Statement(made);
    }

    /// Without a log of writes beside it nothing has to be made to read it; with one, its owner is asked.
    static std::string uri_of(const std::string& given) {
        std::error_code error;
        const std::filesystem::path followed = std::filesystem::canonical(given, error);
        const std::string path = error ? given : followed.string();  // a log is beside the database, not beside a link
        std::string uri = "file:";
        for (const char c : path)
            uri += c == '?' || c == '#' || c == '%' ? fmt::format("%{:02x}", c) : std::string(1, c);
        const auto has = [&](const char* log) {
            std::error_code none;
            return std::filesystem::file_size(path + log, none) > 0 && !none;
        };
        return uri + (has("-wal") || has("-journal") ? "?mode=ro" : "?immutable=1");
    }

    [[noreturn]] void fail() const {
        throw_if_interrupted();
        throw Error(Errc::parse_failed,
                    fmt::format("{}: expected {}: {}", path_, expected_,
                                database_ == nullptr ? "out of memory" : sqlite3_errmsg(database_.get())));
    }

    std::string path_;
    const char* expected_;
    std::unique_ptr<sqlite3, Close> database_{};
    mutable std::map<std::string, Statement> statements_{};  // by query; closed before the database
};

}  // namespace whittle::cli

#endif
