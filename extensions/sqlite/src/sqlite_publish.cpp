#include "sqlite_publish.hpp"

#include "sqlite_schema.hpp"
#include "whittle/base/error.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

namespace whittle::inline v0 {
namespace {

std::string put_attempt(std::string_view key) { return fmt::format("put \"{}\"", key); }

bool has_content(const SqliteObject& object, const Fingerprint& fingerprint) {
    return object.bytes == fingerprint.bytes && object.sha256 == fingerprint.sha256;
}

[[noreturn]] void refuse_other_content(std::string_view key) {
    throw Error(Errc::already_exists, fmt::format("put \"{}\": the key exists with other content", key));
}

/// What another storage wrote, perhaps one that syncs less: the file and its log reach the disk.
void sync_sqlite_files(SqliteConnection& connection) {
    for (const int which : {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER}) {
        sqlite3_file* file = nullptr;
        connection.require_ok(sqlite3_file_control(connection.handle(), "main", which, &file));
        if (file && file->pMethods) connection.require_ok(file->pMethods->xSync(file, SQLITE_SYNC_NORMAL));
    }
}

/// Whether the object under `key` has the same content, whole and as durable as asked for; `damaged_content` is set if
/// it is not whole.
bool is_there(SqliteDatabase& database, SqliteConnection& connection, std::string_view key,
              const Fingerprint& fingerprint, std::int64_t& damaged_content) {
    {
        const SqliteTransaction snapshot(connection, SqliteIntent::read);
        const auto found = find_sqlite_object(connection, key);
        if (!found || found->stored_at_seconds <= database.expired_at()) return false;
        if (!has_content(*found, fingerprint)) refuse_other_content(key);
        if (!damage_of_sqlite_object(connection, *found).empty()) {
            damaged_content = found->content;
            return false;
        }
    }
    if (database.options().durability == Durability::full) sync_sqlite_files(connection);
    return true;
}

/// Its number.
std::int64_t write_content(SqliteConnection& connection, const Fingerprint& fingerprint, SqliteContentStream* stream,
                           std::string_view tail) {
    if (fingerprint.bytes == 0) return 0;
    if (!stream) {
        const std::int64_t content = free_sqlite_content(connection);
        add_sqlite_chunks(connection, content, tail);
        return content;
    }
    const std::int64_t content = stream->hand_over(connection);
    if (!tail.empty()) add_sqlite_chunk(connection, content, fingerprint.bytes / sqlite_chunk_bytes, tail);
    return content;
}

}  // namespace

bool has_sqlite_object(SqliteDatabase& database, std::string_view key, const Fingerprint& fingerprint) {
    const auto connection = database.lease(put_attempt(key));
    std::int64_t damaged_content = 0;
    return is_there(database, *connection, key, fingerprint, damaged_content);
}

void publish_sqlite_object(const std::shared_ptr<SqliteDatabase>& database, std::string_view key,
                           const Fingerprint& fingerprint, SqliteContentStream* stream, std::string_view tail) {
    std::optional<SqliteStream> replaced;
    {
        const auto connection = database->lease(put_attempt(key));
        std::int64_t damaged_content = -1;
        if (is_there(*database, *connection, key, fingerprint, damaged_content)) return;
        const SqliteDatabase::Turn turn(*database, *connection);
        SqliteTransaction transaction(*connection, SqliteIntent::write);
        const std::int64_t now = database->now_seconds();
        if (const auto found = find_sqlite_object(*connection, key)) {
            const bool expired = found->stored_at_seconds <= database->expired_at();
            if (!expired && !has_content(*found, fingerprint)) refuse_other_content(key);
            // Whole, or written by another since it was looked at.
            if (!expired && found->content != damaged_content) return;
            replaced = drop_sqlite_object(*connection, key, *found, now);
        }
        add_sqlite_object(*connection, key,
                          {.content = write_content(*connection, fingerprint, stream, tail),
                           .bytes = fingerprint.bytes,
                           .sha256 = fingerprint.sha256,
                           .stored_at_seconds = now});
        transaction.commit();
        if (stream) stream->handed_over();
    }
    if (replaced) remove_sqlite_content(*database, *replaced);
}

}  // namespace whittle::inline v0
