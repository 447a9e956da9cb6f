#pragma once

#include "whittle/storage/detail/fingerprint.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// Objects up to this size are one value, behind their header.
constexpr std::int64_t redis_inline_bytes = std::int64_t{64} << 10;

/// Longer ones lie in chunks of this size; the last one has the rest.
constexpr std::int64_t redis_chunk_bytes = std::int64_t{1} << 20;

/// The script that makes an object names all its chunks.
constexpr std::int64_t redis_most_chunks = std::int64_t{1} << 16;

/// Each object is in one of them. All of a shard's keys have the same hash tag, so that one script may use its objects,
/// their chunks and its index in a cluster.
constexpr int redis_shards = 256;

/// A key's slot in a cluster, for the part that counts: CRC16 (XMODEM) of what stands in braces, modulo 16384.
[[nodiscard]] int redis_slot_of(std::string_view hash_tag) noexcept;

/// Of an object: its key's CRC16 modulo 256.
[[nodiscard]] int redis_shard_of(std::string_view key) noexcept;

/// The shard's tag: the smallest number whose slot is one of the shard's 64, so that shards lie evenly over all slots.
[[nodiscard]] const std::string& redis_tag_of(int shard);
[[nodiscard]] int redis_slot_of_shard(int shard);

/// What an object's value begins with.
struct RedisHeader {
    Fingerprint fingerprint{};
    std::string id{};                    ///< of these bytes: 32 hex digits that nobody else has; names the chunks
    int shard = 0;                       ///< of the chunks
    std::int64_t stored_at_seconds = 0;  ///< seconds since 1970

    friend bool operator==(const RedisHeader&, const RedisHeader&) = default;
};

constexpr std::size_t redis_header_bytes = 157;

/// With a mark that binds it to its key.
[[nodiscard]] std::string to_bytes(const RedisHeader& header, std::string_view key);

/// Nullopt: what an object of this key begins with does not look so.
[[nodiscard]] std::optional<RedisHeader> read_redis_header(std::string_view value, std::string_view key);

[[nodiscard]] constexpr std::int64_t redis_chunks_of(std::int64_t bytes) noexcept {
    return bytes <= redis_inline_bytes ? 0 : (bytes + redis_chunk_bytes - 1) / redis_chunk_bytes;
}

/// Names of keys in Redis.
class RedisNames {
public:
    explicit RedisNames(std::string prefix) : prefix_(std::move(prefix)) {}

    [[nodiscard]] std::string object(std::string_view key) const;
    [[nodiscard]] std::string chunk(int shard, std::string_view id, std::int64_t number) const;
    [[nodiscard]] std::vector<std::string> chunks(const RedisHeader& header) const;
    /// A sorted set with the shard's objects, in byte order.
    [[nodiscard]] std::string index(int shard) const;
    /// Written to where a write has to come after what was there already.
    [[nodiscard]] std::string touch(int shard) const;

private:
    [[nodiscard]] std::string in_shard(int shard, char kind, std::string_view rest) const;

    std::string prefix_;
};

/// What an index holds of an object, and back. `\0` sorts before whatever a key may have.
struct RedisEntry {
    std::string key{};
    std::int64_t bytes = 0;
    std::int64_t stored_at_seconds = 0;  ///< seconds since 1970
    bool may_expire = false;
};
[[nodiscard]] std::string to_bytes(const RedisEntry& entry);
/// Nullopt for what is none.
[[nodiscard]] std::optional<RedisEntry> read_redis_entry(std::string_view member);

}  // namespace whittle::inline v0
