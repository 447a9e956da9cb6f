#include "openclaw_database.hpp"

#include "read_database.hpp"
#include "unpacker.hpp"
#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::cli {

#if WHITTLE_READS_SQLITE

namespace {

constexpr const char* database_of_openclaw = "a database of OpenClaw";

using OpenclawRow = std::vector<std::string>;

std::vector<std::string> columns_of_events(const ReadDatabase& database) {
    std::vector<std::string> columns;
    database.each_row("SELECT name FROM pragma_table_info('transcript_events')", {},
                      [&](const OpenclawRow& row) { columns.push_back(row[0]); });
    return columns;
}

bool has_column(const std::vector<std::string>& columns, std::string_view name) {
    return std::ranges::find(columns, name) != columns.end();
}

/// By the id of the session that they began.
std::map<std::string, std::string> parents_in(const ReadDatabase& database) {
    std::map<std::string, std::string> parents;
    try {
        std::map<std::string, std::string> session_of;  // by the key that it is known by
        database.each_row("SELECT session_key, current_session_id FROM session_nodes", {},
                          [&](const OpenclawRow& row) { session_of.emplace(row[0], row[1]); });
        database.each_row("SELECT session_id, spawned_by FROM session_windows", {}, [&](const OpenclawRow& row) {
            if (const auto parent = session_of.find(row[1]); parent != session_of.end())
                parents.emplace(row[0], parent->second);
        });
    } catch (const Error& error) {
        if (error.errc() != Errc::parse_failed) throw;  // of a version that had no such tables
    }
    return parents;
}

/// Throws Error(not_offered) where the program was built without libzstd, Error(parse_failed) for what is broken.
std::string unpacked_record(const std::string& packed, std::size_t most_bytes) {
    const std::string name = "a record";
    const auto unpacker =
        unpack_zstd(PackedInput(name, "zstd", packed, InputLimits{}, [](char*, std::size_t) { return 0; }), name);
    std::string text;
    constexpr std::size_t block = 1U << 16U;
    while (true) {
        const std::size_t size = text.size();
        if (size > most_bytes) throw Error(Errc::parse_failed, "a record that is too long");
        text.resize(size + block);
        const std::size_t read = unpacker->read(text.data() + size, block);
        text.resize(size + read);
        if (read == 0) return text;
    }
}

/// The records of sessions, a line each.
class OpenclawRows {
public:
    OpenclawRows(const ReadDatabase& database, const JsonLimits& limits, logs::LogNotes& notes)
        : database_(database),
          limits_(limits),
          notes_(notes),
          query_(fmt::format("SELECT event_json, {} FROM transcript_events WHERE session_id = ?1 ORDER BY seq",
                             has_column(columns_of_events(database), "event_zstd") ? "event_zstd" : "NULL")) {}

    /// Empty if they are more than a session may have, which is noted.
    [[nodiscard]] std::string records_of(const std::string& session) {
        std::string records;
        bool is_too_long = false;
        database_.each_row(query_, session, [&](const OpenclawRow& row) {
            if (is_too_long) return;
            add(row, records);
            is_too_long = records.size() > limits_.max_bytes;
        });
        if (!is_too_long) return records;
        ++notes_.damaged;
        notes_.damaged_lines.push_back({1, fmt::format("a session of more than {} bytes", limits_.max_bytes)});
        return {};
    }

private:
    void add(const OpenclawRow& row, std::string& records) {
        const std::size_t begin = records.size();
        try {
            records += row[0].empty() && !row[1].empty() ? unpacked_record(row[1], limits_.max_bytes) : row[0];
        } catch (const Error& error) {
            if (error.errc() != Errc::parse_failed && error.errc() != Errc::not_offered) throw;
            ++notes_.unknown["record that could not be unpacked"];
            return;
        }
        std::replace(records.begin() + static_cast<std::ptrdiff_t>(begin), records.end(), '\n', ' ');
        records += '\n';
    }

    const ReadDatabase& database_;
    JsonLimits limits_;
    logs::LogNotes& notes_;
    std::string query_;
};

}  // namespace

bool is_openclaw_database(const std::string& path) {
    constexpr std::size_t longest_name = 1U << 16U;
    try {
        const auto columns = columns_of_events(ReadDatabase(path, longest_name, database_of_openclaw));
        return has_column(columns, "event_json") && has_column(columns, "session_id") && has_column(columns, "seq");
    } catch (const Error& error) {
        if (error.errc() != Errc::parse_failed) throw;
        return false;
    }
}

logs::LogNotes each_openclaw_session(const std::string& path, const JsonLimits& limits,
                                     FunctionRef<void(OpenclawSession&&)> visit) {
    logs::LogNotes notes;
    constexpr std::size_t least_row = std::size_t{16} << 20;
    const ReadDatabase database(path, std::max(limits.max_bytes, least_row), database_of_openclaw);
    OpenclawRows rows(database, limits, notes);
    const auto parents = parents_in(database);
    std::vector<std::string> sessions;
    database.each_row("SELECT DISTINCT session_id FROM transcript_events ORDER BY session_id", {},
                      [&](const OpenclawRow& row) { sessions.push_back(row[0]); });
    for (const std::string& session : sessions) {
        const auto parent = parents.find(session);
        std::string records = rows.records_of(session);
        if (!records.empty())
            visit({.id = session,
                   .records = std::move(records),
                   .parent = parent == parents.end() ? "" : parent->second});
    }
    return notes;
}

#else

bool is_openclaw_database(const std::string& path) {
    return std::filesystem::path(path).filename().string().starts_with("openclaw");
}

logs::LogNotes each_openclaw_session(const std::string& path, const JsonLimits&, FunctionRef<void(OpenclawSession&&)>) {
    throw Error(Errc::not_offered,
                fmt::format("read {}: it is an SQLite database, and this program was built without SQLite", path));
}

#endif

}  // namespace whittle::cli
