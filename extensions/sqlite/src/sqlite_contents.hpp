#pragma once

#include "sqlite_connection.hpp"

#include <optional>

namespace whittle::inline v0 {

/// A row of `objects`.
struct SqliteObject {
    std::int64_t content = 0;
    std::int64_t bytes = 0;
    std::string sha256{};  ///< 64 hex digits
    std::int64_t stored_at_seconds = 0;
};

/// A row of `streams`: a content that no object has. The token tells it from a later one of the same number.
struct SqliteStream {
    std::int64_t content = 0;
    std::int64_t token = 0;
    std::int64_t begun_at = 0;
};

[[nodiscard]] std::optional<SqliteObject> find_sqlite_object(SqliteConnection& connection, std::string_view key);
void add_sqlite_object(SqliteConnection& connection, std::string_view key, const SqliteObject& object);

/// Takes the object's row, in a transaction that writes. A content of few chunks goes with it; else the stream that it
/// has become is returned, to be taken away piece by piece once that is committed.
[[nodiscard]] std::optional<SqliteStream> drop_sqlite_object(SqliteConnection& connection, std::string_view key,
                                                             const SqliteObject& object, std::int64_t now);

/// A number that no content has, above 0; to be used in the same transaction. Objects of no bytes have the number 0.
[[nodiscard]] std::int64_t free_sqlite_content(SqliteConnection& connection);
/// The content as chunks, from place 0.
void add_sqlite_chunks(SqliteConnection& connection, std::int64_t content, std::string_view bytes);
void add_sqlite_chunk(SqliteConnection& connection, std::int64_t content, std::int64_t place, std::string_view bytes);

[[nodiscard]] std::int64_t new_sqlite_token();
void add_sqlite_stream(SqliteConnection& connection, const SqliteStream& stream);
[[nodiscard]] bool has_sqlite_stream(SqliteConnection& connection, const SqliteStream& stream);
void remove_sqlite_stream(SqliteConnection& connection, const SqliteStream& stream);
/// Removes some of its chunks, or the stream itself if it has none. False once there is no such stream.
[[nodiscard]] bool shrink_sqlite_stream(SqliteConnection& connection, const SqliteStream& stream);

/// `bytes` from `offset`, both within the object; in a transaction. Throws Error(damaged) if a chunk that is read, or
/// the last one, is missing or not as long as the object says; for the whole object also for another SHA-256.
[[nodiscard]] std::string read_sqlite_object(SqliteConnection& connection, const SqliteObject& object,
                                             std::int64_t offset, std::int64_t bytes);

/// What is wrong with the object, read chunk by chunk; empty if it is whole. In a transaction.
[[nodiscard]] std::string damage_of_sqlite_object(SqliteConnection& connection, const SqliteObject& object);

}  // namespace whittle::inline v0
