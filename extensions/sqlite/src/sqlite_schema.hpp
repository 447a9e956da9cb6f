#pragma once

#include "sqlite_connection.hpp"

#include <span>

namespace whittle::inline v0 {

/// "whtl": what the file says of the program that it belongs to (PRAGMA application_id).
constexpr std::int64_t sqlite_application_id = 0x7768'746c;

/// An object's content lies in chunks of this size; the last one has the rest.
constexpr std::int64_t sqlite_chunk_bytes = std::int64_t{1} << 20;

/// A chunk's id is its content's number and, in the lower bits, its place in it.
constexpr int sqlite_place_bits = 20;
constexpr std::int64_t sqlite_most_chunks = std::int64_t{1} << sqlite_place_bits;

/// What makes a file of version n one of version n + 1, from an empty one on. Never changed once released.
[[nodiscard]] std::span<const char* const> sqlite_schema_steps();

/// Brings the file to the version that `steps` end with, all at once or not at all. Throws Error(storage_failed) for a
/// file of another program or of a newer version, by name.
void bring_sqlite_schema_up(SqliteConnection& connection, std::span<const char* const> steps);

/// The same for a file that cannot be written: it has to be of this version.
void require_sqlite_schema(SqliteConnection& connection, std::span<const char* const> steps);

}  // namespace whittle::inline v0
