#include "opencode_database.hpp"

#include "interrupt.hpp"
#include "logs/detail/short_texts.hpp"
#include "read_database.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"
#include "whittle/provider/detail/json_text.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::cli {

bool is_database(std::string_view start) noexcept {
    return start.starts_with(std::string_view("SQLite format 3\0", 16));
}

#if WHITTLE_READS_SQLITE

namespace {

using nlohmann::ordered_json;

constexpr const char* database_of_opencode = "a database of opencode";

/// Which tables of sessions and messages there are: version 1 has `session` with `message` and `part`, version 2
/// `session_v2` with `session_message`, and leaves those of version 1 beside them.
struct OpencodeTables {
    explicit OpencodeTables(const ReadDatabase& database) {
        database.each_row("SELECT name FROM sqlite_master WHERE type = 'table'", {},
                          [&](const std::vector<std::string>& row) {
                              has_sessions = has_sessions || row[0] == "session";
                              has_sessions_v2 = has_sessions_v2 || row[0] == "session_v2";
                              has_parts = has_parts || row[0] == "part";
                          });
        // The first ones had no order, and no rows.
        database.each_row("SELECT name FROM pragma_table_info('session_message') WHERE name = 'seq'", {},
                          [&](const std::vector<std::string>&) { has_rows_v2 = true; });
    }

    bool has_sessions = false;
    bool has_sessions_v2 = false;
    bool has_parts = false;
    bool has_rows_v2 = false;
};

/// An object that grows copies what it holds.
ordered_json object_of(const char* first, ordered_json value, const char* second, ordered_json other) {
    ordered_json::object_t object;
    object.reserve(2);
    object.emplace_back(first, std::move(value));
    object.emplace_back(second, std::move(other));
    return ordered_json(std::move(object));
}

/// Puts the rows of sessions together as documents, within the limits of one.
class SessionRows {
public:
    SessionRows(const ReadDatabase& database, const JsonLimits& limits, bool bills_only, logs::LogNotes& notes)
        : database_(database), tables_(database), limits_(limits), bills_only_(bills_only), notes_(notes) {}

    [[nodiscard]] const OpencodeTables& tables() const noexcept { return tables_; }

    /// Nullopt if its rows are more than a document may be, which is noted. `is_v2`: version 2 knows the session, which
    /// has a copy of what version 1 wrote then.
    [[nodiscard]] std::optional<ordered_json> document_of(const std::string& id, ordered_json info, bool is_v2) {
        bytes_ = 0;
        try {
            ordered_json messages = is_v2 ? rows_of(id) : messages_of(id);
            if (messages.empty()) messages = is_v2 ? messages_of(id) : rows_of(id);
            return object_of("info", std::move(info), "messages", std::move(messages));
        } catch (const TooLong&) {
            note(fmt::format("a session of more than {} bytes", limits_.max_bytes));
            return std::nullopt;
        }
    }

    /// What a column holds; null if it is no JSON, which is noted. No text in it tells of bills.
    [[nodiscard]] ordered_json json_of(const std::string& column) {
        constexpr std::size_t worth_cutting = 320;  // bytes
        if (!bills_only_ || column.size() <= worth_cutting) return parsed(column);
        logs::shorten_texts(column, shortened_);
        return parsed(shortened_);
    }

private:
    struct TooLong {};

    [[nodiscard]] ordered_json parsed(const std::string& column) {
        // Of a document, "messages", a message, "parts".
        constexpr std::size_t levels_above = 4;
        if (!values_.take(column)) {
            note(detail::ValueBudget::reason);
            return nullptr;
        }
        try {
            bool is_repaired = false;
            ordered_json row = detail::parse_repaired_json(
                "a row", column, is_repaired,
                {.max_bytes = limits_.max_bytes, .max_depth = limits_.max_depth - levels_above}, nullptr,
                [] { throw_if_interrupted(); });
            if (is_repaired) ++notes_.repaired;
            return row;
        } catch (const Error& error) {
            if (error.errc() != Errc::parse_failed) throw;
            const std::string_view what = error.what();
            note(what.substr(0, what.find("; last read")));  // not what stands there: it may be secret
            return nullptr;
        }
    }

    /// What version 2 writes: a message is one row, and its type is a column.
    ordered_json rows_of(const std::string& session) {
        ordered_json messages = ordered_json::array();
        if (!tables_.has_rows_v2) return messages;
        database_.each_row("SELECT id, type, data FROM session_message WHERE session_id = ?1 ORDER BY seq", session,
                           [&](const std::vector<std::string>& row) {
                               count(row);
                               messages.push_back(object_with({{"id", row[0]}, {"type", row[1]}}, row[2]));
                           });
        return messages;
    }

    /// What a column holds, with these members; of them alone if it is no object.
    ordered_json object_with(std::initializer_list<std::pair<const char*, std::string_view>> members,
                             const std::string& column) {
        ordered_json held = json_of(column);
        ordered_json::object_t object;
        object.reserve(members.size() + held.size());
        const auto is_given = [&](const std::string& key) {
            return std::ranges::any_of(members, [&](const auto& member) { return key == member.first; });
        };
        for (const auto& [key, text] : members) object.emplace_back(key, to_valid_utf8(text));
        if (!held.is_object()) return ordered_json(std::move(object));
        for (auto& [key, value] : held.get_ref<ordered_json::object_t&>()) {
            if (!is_given(key)) object.emplace_back(key, std::move(value));
        }
        return ordered_json(std::move(object));
    }

    /// A part of no message of the session is left out.
    ordered_json messages_of(const std::string& session) {
        ordered_json messages = ordered_json::array();
        if (!tables_.has_parts) return messages;
        std::unordered_map<std::string, std::size_t> places;  // by id
        database_.each_row("SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id", session,
                           [&](const std::vector<std::string>& row) {
                               count(row);
                               ordered_json info = object_with({{"id", row[0]}}, row[1]);
                               places.emplace(row[0], messages.size());
                               messages.push_back(object_of("info", std::move(info), "parts", ordered_json::array()));
                           });
        database_.each_row("SELECT message_id, data FROM part WHERE session_id = ?1 ORDER BY time_created, id", session,
                           [&](const std::vector<std::string>& row) {
                               count(row);
                               const auto place = places.find(row[0]);
                               if (place != places.end()) messages[place->second]["parts"].push_back(json_of(row[1]));
                           });
        return messages;
    }

    void count(const std::vector<std::string>& row) {
        for (const std::string& column : row) bytes_ += column.size();
        if (bytes_ > limits_.max_bytes) throw TooLong{};
    }

    void note(std::string_view reason) {
        constexpr std::size_t max_reasons = 20;
        ++notes_.damaged;
        if (notes_.damaged_lines.size() < max_reasons) notes_.damaged_lines.push_back({1, std::string(reason)});
    }

    const ReadDatabase& database_;
    OpencodeTables tables_;
    JsonLimits limits_;
    bool bills_only_;
    logs::LogNotes& notes_;
    std::string shortened_{};  // of a row, where only bills are wanted
    detail::ValueBudget values_{};
    std::size_t bytes_ = 0;  // of the session that is read
};

/// A row of `session` or `session_v2`.
struct ListedSession {
    std::string id{};
    ordered_json info{};
    bool is_v2 = false;
};

/// In the order in which they began. One that is in both tables was taken over by version 2.
std::vector<ListedSession> sessions_of(const ReadDatabase& database, SessionRows& rows) {
    const OpencodeTables& tables = rows.tables();
    const std::string columns = "SELECT id, parent_id, directory, version, revert, time_created, ";
    std::string query = columns + "1 FROM session_v2";
    if (!tables.has_sessions_v2) {
        query = columns + "0 FROM session";
    } else if (tables.has_sessions) {
        query += " UNION ALL " + columns + "0 FROM session WHERE id NOT IN (SELECT id FROM session_v2)";
    }
    std::vector<ListedSession> sessions;
    database.each_row(query + " ORDER BY time_created, id", {}, [&](const std::vector<std::string>& row) {
        ListedSession& session = sessions.emplace_back();
        session.id = row[0];
        session.info["id"] = to_valid_utf8(row[0]);
        session.info["directory"] = to_valid_utf8(row[2]);
        session.info["version"] = to_valid_utf8(row[3]);
        if (!row[1].empty()) session.info["parentID"] = to_valid_utf8(row[1]);
        if (!row[4].empty()) session.info["revert"] = rows.json_of(row[4]);
        session.is_v2 = row[6] == "1";
    });
    return sessions;
}

}  // namespace

std::optional<std::vector<std::string>> tables_of_other_program(const std::string& path) {
    if (std::filesystem::path(path).filename().string().starts_with("opencode")) return std::nullopt;
    constexpr std::size_t longest_name = 1U << 16U;
    constexpr std::size_t most = 12;
    constexpr std::size_t longest = 64;
    std::vector<std::string> tables;
    bool has_sessions = false;
    bool has_messages = false;
    try {
        const ReadDatabase database(path, longest_name, database_of_opencode);
        database.each_row("SELECT name, type FROM sqlite_master ORDER BY name", {},
                          [&](const std::vector<std::string>& row) {
                              has_sessions = has_sessions || row[0] == "session" || row[0] == "session_v2";
                              has_messages = has_messages || row[0] == "message" || row[0] == "session_message";
                              if (tables.size() < most && row[1] == "table")
                                  tables.push_back(row[0].substr(0, longest));
                          });
    } catch (const Error& error) {
        if (error.errc() != Errc::parse_failed) throw;
        return std::nullopt;
    }
    return has_sessions && has_messages ? std::nullopt : std::optional(std::move(tables));
}

logs::LogNotes each_opencode_session(const std::string& path, const JsonLimits& limits, bool bills_only,
                                     FunctionRef<void(const ordered_json& document)> visit) {
    logs::LogNotes notes;
    constexpr std::size_t least_row = std::size_t{16} << 20;  // a session's limit is for all of its rows
    const ReadDatabase database(path, std::max(limits.max_bytes, least_row), database_of_opencode);
    SessionRows rows(database, limits, bills_only, notes);
    for (ListedSession& session : sessions_of(database, rows)) {
        if (const auto document = rows.document_of(session.id, std::move(session.info), session.is_v2))
            visit(*document);
    }
    return notes;
}

#else

std::optional<std::vector<std::string>> tables_of_other_program(const std::string&) { return std::nullopt; }

logs::LogNotes each_opencode_session(const std::string& path, const JsonLimits&, bool,
                                     FunctionRef<void(const nlohmann::ordered_json&)>) {
    throw Error(Errc::not_offered,
                fmt::format("read {}: it is an SQLite database, and this program was built without SQLite: export its "
                            "sessions first (opencode export ID > FILE)",
                            path));
}

#endif

}  // namespace whittle::cli
