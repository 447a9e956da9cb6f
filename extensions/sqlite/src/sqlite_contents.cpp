#include "sqlite_contents.hpp"

#include "sqlite_schema.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/hash.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <random>

namespace whittle::inline v0 {
namespace {

constexpr std::int64_t chunks_at_once = 16;

std::int64_t first_chunk(std::int64_t content) noexcept { return content << sqlite_place_bits; }
std::int64_t last_chunk(std::int64_t content) noexcept { return first_chunk(content) + sqlite_most_chunks - 1; }

/// The place of the chunk in which an object of this length ends; one of no bytes has no chunk.
std::int64_t last_place(std::int64_t bytes) noexcept { return (bytes - 1) / sqlite_chunk_bytes; }

/// Ties the row to its key: in a damaged file a look-up can end at a row that is whole, but another key's.
std::int64_t mark_of(std::string_view key, const SqliteObject& object) {
    const std::string row =
        fmt::format("{} {} {} {} {}", key, object.content, object.bytes, object.sha256, object.stored_at_seconds);
    return static_cast<std::int64_t>(hash128(row).low);
}

/// Reads chunk after chunk without having a whole one in memory.
class ChunkReader {
public:
    ChunkReader(SqliteConnection& connection, const SqliteObject& object) : connection_(connection), object_(object) {}
    ~ChunkReader() { sqlite3_blob_close(blob_); }
    ChunkReader(const ChunkReader&) = delete;
    ChunkReader& operator=(const ChunkReader&) = delete;

    /// Its length is what the object's length makes it.
    void move_to(std::int64_t place) {
        const std::int64_t id = first_chunk(object_.content) + place;
        const int code = blob_ ? sqlite3_blob_reopen(blob_, id)
                               : sqlite3_blob_open(connection_.handle(), "main", "chunks", "bytes", id, 0, &blob_);
        const std::int64_t before = place * sqlite_chunk_bytes;
        if (code == SQLITE_ERROR)
            connection_.damaged(fmt::format("expected {} bytes, found {}", object_.bytes, before));
        connection_.require_ok(code);
        const std::int64_t expected = std::min(sqlite_chunk_bytes, object_.bytes - before);
        const std::int64_t found = sqlite3_blob_bytes(blob_);
        if (found != expected)
            connection_.damaged(fmt::format("expected {} bytes, found {}", object_.bytes,
                                            found < expected ? before + found : object_.bytes + found - expected));
    }

    void read(char* to, std::int64_t bytes, std::int64_t offset) {
        connection_.require_ok(sqlite3_blob_read(blob_, to, static_cast<int>(bytes), static_cast<int>(offset)));
    }

    [[nodiscard]] std::int64_t bytes() const noexcept { return sqlite3_blob_bytes(blob_); }

private:
    SqliteConnection& connection_;
    const SqliteObject& object_;
    sqlite3_blob* blob_ = nullptr;
};

std::string hash_of_content(SqliteConnection& connection, const SqliteObject& object) {
    Sha256 hash;
    ChunkReader reader(connection, object);
    std::string piece;
    for (std::int64_t place = 0; object.bytes > 0 && place <= last_place(object.bytes); ++place) {
        reader.move_to(place);
        piece.resize(static_cast<std::size_t>(reader.bytes()));
        reader.read(piece.data(), reader.bytes(), 0);
        hash.update(piece);
    }
    return hash.hex_digest();
}

}  // namespace

std::optional<SqliteObject> find_sqlite_object(SqliteConnection& connection, std::string_view key) {
    SqliteQuery query(connection, "SELECT content, bytes, sha256, stored_at, mark FROM objects WHERE key = ?");
    if (!query.with_text(key).step()) return std::nullopt;
    SqliteObject found{.content = query.integer(0),
                       .bytes = query.integer(1),
                       .sha256 = std::string(query.bytes(2)),
                       .stored_at_seconds = query.integer(3)};
    if (query.integer(4) != mark_of(key, found)) connection.damaged("the object's row is altered");
    if (found.bytes < 0 || found.bytes > sqlite_chunk_bytes * sqlite_most_chunks || found.content < 0 ||
        found.content >> (62 - sqlite_place_bits) != 0)
        connection.damaged(fmt::format("an object of {} bytes, content {}", found.bytes, found.content));
    return found;
}

void add_sqlite_object(SqliteConnection& connection, std::string_view key, const SqliteObject& object) {
    SqliteQuery(connection,
                "INSERT INTO objects(key, content, bytes, sha256, stored_at, mark) VALUES(?, ?, ?, ?, ?, ?)")
        .with_text(key)
        .with(object.content)
        .with(object.bytes)
        .with_text(object.sha256)
        .with(object.stored_at_seconds)
        .with(mark_of(key, object))
        .run();
}

std::optional<SqliteStream> drop_sqlite_object(SqliteConnection& connection, std::string_view key,
                                               const SqliteObject& object, std::int64_t now) {
    SqliteQuery(connection, "DELETE FROM objects WHERE key = ?").with_text(key).run();
    if (object.bytes > chunks_at_once * sqlite_chunk_bytes) {
        const SqliteStream left{.content = object.content, .token = new_sqlite_token(), .begun_at = now};
        add_sqlite_stream(connection, left);
        return left;
    }
    SqliteQuery(connection, "DELETE FROM chunks WHERE id BETWEEN ? AND ?")
        .with(first_chunk(object.content))
        .with(last_chunk(object.content))
        .run();
    return std::nullopt;
}

std::int64_t free_sqlite_content(SqliteConnection& connection) {
    SqliteQuery query(connection,
                      "SELECT max(coalesce((SELECT max(id) FROM chunks), 0) >> ?,"
                      " coalesce((SELECT max(content) FROM streams), 0)) + 1");
    query.with(sqlite_place_bits).step();
    return query.integer(0);
}

void add_sqlite_chunks(SqliteConnection& connection, std::int64_t content, std::string_view bytes) {
    constexpr auto step = static_cast<std::size_t>(sqlite_chunk_bytes);
    for (std::size_t at = 0; at < bytes.size(); at += step)
        add_sqlite_chunk(connection, content, static_cast<std::int64_t>(at / step), bytes.substr(at, step));
}

void add_sqlite_chunk(SqliteConnection& connection, std::int64_t content, std::int64_t place, std::string_view bytes) {
    if (place >= sqlite_most_chunks)
        connection.fail(fmt::format("an object has at most {} bytes", sqlite_most_chunks * sqlite_chunk_bytes));
    SqliteQuery(connection, "INSERT INTO chunks(id, bytes) VALUES(?, ?)")
        .with(first_chunk(content) + place)
        .with_blob(bytes)
        .run();
}

std::int64_t new_sqlite_token() {
    std::random_device device;
    return static_cast<std::int64_t>(std::uint64_t{device()} << 31 ^ device());
}

void add_sqlite_stream(SqliteConnection& connection, const SqliteStream& stream) {
    SqliteQuery(connection, "INSERT INTO streams(content, token, begun_at) VALUES(?, ?, ?)")
        .with(stream.content)
        .with(stream.token)
        .with(stream.begun_at)
        .run();
}

bool has_sqlite_stream(SqliteConnection& connection, const SqliteStream& stream) {
    SqliteQuery query(connection, "SELECT 1 FROM streams WHERE content = ? AND token = ?");
    return query.with(stream.content).with(stream.token).step();
}

void remove_sqlite_stream(SqliteConnection& connection, const SqliteStream& stream) {
    SqliteQuery(connection, "DELETE FROM streams WHERE content = ? AND token = ?")
        .with(stream.content)
        .with(stream.token)
        .run();
}

bool shrink_sqlite_stream(SqliteConnection& connection, const SqliteStream& stream) {
    if (!has_sqlite_stream(connection, stream)) return false;
    SqliteQuery(connection, "DELETE FROM chunks WHERE id IN (SELECT id FROM chunks WHERE id BETWEEN ? AND ? LIMIT ?)")
        .with(first_chunk(stream.content))
        .with(last_chunk(stream.content))
        .with(chunks_at_once)
        .run();
    if (sqlite3_changes(connection.handle()) > 0) return true;
    remove_sqlite_stream(connection, stream);
    return false;
}

std::string read_sqlite_object(SqliteConnection& connection, const SqliteObject& object, std::int64_t offset,
                               std::int64_t bytes) {
    std::string content(static_cast<std::size_t>(bytes), '\0');
    ChunkReader reader(connection, object);
    if (object.bytes > 0) reader.move_to(last_place(object.bytes));
    for (std::int64_t done = 0; done < bytes;) {
        const std::int64_t at = offset + done;
        reader.move_to(at / sqlite_chunk_bytes);
        const std::int64_t in_chunk = at % sqlite_chunk_bytes;
        const std::int64_t step = std::min(bytes - done, reader.bytes() - in_chunk);
        reader.read(content.data() + done, step, in_chunk);
        done += step;
    }
    if (bytes == object.bytes) {
        const std::string found = sha256_hex(content);
        if (found != object.sha256)
            connection.damaged(fmt::format("expected SHA-256 {}, found {}", object.sha256, found));
    }
    return content;
}

std::string damage_of_sqlite_object(SqliteConnection& connection, const SqliteObject& object) {
    try {
        const std::string found = hash_of_content(connection, object);
        if (found == object.sha256) return {};
        return fmt::format("expected SHA-256 {}, found {}", object.sha256, found);
    } catch (const Error& error) {
        if (error.errc() != Errc::damaged) throw;
        return error.what();
    }
}

}  // namespace whittle::inline v0
