#include "sqlite_schema.hpp"

#include <fmt/format.h>

#include <array>

namespace whittle::inline v0 {
namespace {

/// Objects are found by their key without an index beside; `mark` is a hash of the row. A content in `streams` has no
/// object yet, or no longer.
constexpr std::array<const char*, 1> schema_steps{R"(
CREATE TABLE objects(
  key TEXT NOT NULL PRIMARY KEY, content INTEGER NOT NULL, bytes INTEGER NOT NULL, sha256 TEXT NOT NULL,
  stored_at INTEGER NOT NULL, mark INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE chunks(id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
CREATE TABLE streams(content INTEGER PRIMARY KEY, token INTEGER NOT NULL, begun_at INTEGER NOT NULL) STRICT;
)"};

bool is_ours(SqliteConnection& connection) {
    return connection.number("PRAGMA application_id") == sqlite_application_id;
}

bool is_empty(SqliteConnection& connection) { return connection.number("SELECT count(*) FROM sqlite_schema") == 0; }

std::int64_t version_of(SqliteConnection& connection, std::span<const char* const> steps) {
    if (!is_ours(connection)) {
        if (is_empty(connection)) return 0;
        connection.fail("the file is a database of another program");
    }
    const std::int64_t version = connection.number("PRAGMA user_version");
    if (version > static_cast<std::int64_t>(steps.size()))
        connection.fail(fmt::format("the file is of version {}, of a newer whittle; this one knows versions up to {}",
                                    version, steps.size()));
    return version;
}

/// In one snapshot: another may be making the schema meanwhile, and half of it is nobody's.
std::int64_t version_now(SqliteConnection& connection, std::span<const char* const> steps) {
    const SqliteTransaction snapshot(connection, SqliteIntent::read);
    return version_of(connection, steps);
}

}  // namespace

std::span<const char* const> sqlite_schema_steps() { return schema_steps; }

void bring_sqlite_schema_up(SqliteConnection& connection, std::span<const char* const> steps) {
    if (version_now(connection, steps) == static_cast<std::int64_t>(steps.size())) return;
    SqliteTransaction transaction(connection, SqliteIntent::write);
    for (auto at = static_cast<std::size_t>(version_of(connection, steps)); at < steps.size(); ++at)
        connection.run(steps[at]);
    connection.run(fmt::format("PRAGMA application_id = {}", sqlite_application_id).c_str());
    connection.run(fmt::format("PRAGMA user_version = {}", steps.size()).c_str());
    transaction.commit();
}

void require_sqlite_schema(SqliteConnection& connection, std::span<const char* const> steps) {
    const std::int64_t version = version_now(connection, steps);
    if (version != static_cast<std::int64_t>(steps.size()))
        connection.fail(
            fmt::format("the file is of version {} and cannot be written, so that it stays so; "
                        "this whittle reads version {}",
                        version, steps.size()));
}

}  // namespace whittle::inline v0
