// What the tests of the SQLite storage share.
#pragma once

#include "../src/sqlite_on.hpp"

#include "storage/posix_tools.hpp"
#include "support/soak.hpp"
#include "support/storage_tools.hpp"
#include "support/temp_dir.hpp"

#include <sqlite3.h>

#include <stdexcept>

namespace whittle::testing {

/// The file as SQLite has it, past the storage.
class RawDatabase {
public:
    explicit RawDatabase(const std::string& path) {
        if (sqlite3_open(path.c_str(), &handle_) != SQLITE_OK) throw std::runtime_error("cannot open " + path);
        sqlite3_busy_timeout(handle_, 5'000);
    }
    ~RawDatabase() { sqlite3_close(handle_); }
    RawDatabase(const RawDatabase&) = delete;
    RawDatabase& operator=(const RawDatabase&) = delete;

    void run(const char* sql) {
        if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
            throw std::runtime_error(std::string(sql) + ": " + sqlite3_errmsg(handle_));
    }

    std::int64_t number(const char* sql) {
        sqlite3_stmt* statement = nullptr;
        if (sqlite3_prepare_v2(handle_, sql, -1, &statement, nullptr) != SQLITE_OK)
            throw std::runtime_error(std::string(sql) + ": " + sqlite3_errmsg(handle_));
        const std::int64_t found = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;
        sqlite3_finalize(statement);
        return found;
    }

private:
    sqlite3* handle_ = nullptr;
};

/// Streams `content` in `pieces` pieces.
inline void write_pieces(Storage& storage, const std::string& key, std::string_view content, std::size_t pieces) {
    const auto writer = storage.open_writer();
    const std::size_t step = content.size() / pieces + 1;
    for (std::size_t at = 0; at < content.size(); at += step) writer->write(content.substr(at, step));
    writer->commit(key);
}

}  // namespace whittle::testing
