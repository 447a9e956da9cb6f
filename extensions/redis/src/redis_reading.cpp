#include "redis_reading.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace whittle::inline v0 {
namespace {

using TakeBytes = std::function<void(std::string_view)>;

[[noreturn]] void refuse_damaged(std::string_view verb, std::string_view key, std::string_view problem) {
    throw Error(Errc::damaged, fmt::format("{} \"{}\": {}", verb, key, problem));
}

std::int64_t length_of_chunk(const RedisHeader& header, std::int64_t number) {
    return std::min(redis_chunk_bytes, header.fingerprint.bytes - number * redis_chunk_bytes);
}

std::string other_length(const RedisHeader& header, std::int64_t found) {
    return fmt::format("expected {} bytes, found {}", header.fingerprint.bytes, found);
}

/// One object, read. The value is what lies under its key: the header and, of a short one, the content.
class ObjectReader {
public:
    ObjectReader(RedisStore& store, std::string_view key, const RedisHeader& header, std::string_view value)
        : store_(store), header_(header), value_(value), work_(RedisStore::reading("get", key)) {
        work_.slot = redis_slot_of_shard(header.shard);
    }

    /// Gives all of the content to `take`. What is wrong with it; empty if nothing is.
    [[nodiscard]] std::string read_all(const TakeBytes& take) {
        Sha256 hash;
        const std::string shorter = read_pieces([&](std::string_view piece) {
            hash.update(piece);
            take(piece);
        });
        if (!shorter.empty()) return shorter;
        const std::string found = hash.hex_digest();
        if (found == header_.fingerprint.sha256) return {};
        return fmt::format("expected SHA-256 {}, found {}", header_.fingerprint.sha256, found);
    }

    /// The same for `bytes` from `offset` of an object that has chunks, not hashed.
    [[nodiscard]] std::string read_range(std::int64_t offset, std::int64_t bytes, const TakeBytes& take) {
        const std::int64_t last = redis_chunks_of(header_.fingerprint.bytes) - 1;
        const RedisReply length = store_.client().call(work_, {"STRLEN", name_of(last)}, RedisShape::integer);
        if (integer_of_reply(*length) != length_of_chunk(header_, last))
            return other_length(header_, last * redis_chunk_bytes + integer_of_reply(*length));
        while (bytes > 0) {
            const std::int64_t number = offset / redis_chunk_bytes;
            const std::int64_t from = offset % redis_chunk_bytes;
            const std::int64_t part = std::min(bytes, redis_chunk_bytes - from);
            const RedisReply reply = store_.client().call(
                work_, {"GETRANGE", name_of(number), std::to_string(from), std::to_string(from + part - 1)},
                RedisShape::text);
            const std::string_view found = text_of_reply(*reply);
            const auto found_bytes = static_cast<std::int64_t>(found.size());
            if (found_bytes != part)
                return other_length(header_, found_bytes == 0 ? offset - from : offset + found_bytes);
            take(found);
            offset += part;
            bytes -= part;
        }
        return {};
    }

private:
    [[nodiscard]] std::string name_of(std::int64_t chunk) const {
        return store_.names().chunk(header_.shard, header_.id, chunk);
    }

    [[nodiscard]] std::string read_pieces(const TakeBytes& take) {
        const std::int64_t chunks = redis_chunks_of(header_.fingerprint.bytes);
        if (chunks == 0) {
            const std::string_view content = value_.substr(redis_header_bytes);
            if (static_cast<std::int64_t>(content.size()) != header_.fingerprint.bytes)
                return other_length(header_, static_cast<std::int64_t>(content.size()));
            take(content);
        }
        for (std::int64_t number = 0; number < chunks; ++number) {
            const RedisReply reply = store_.client().call(work_, {"GET", name_of(number)}, RedisShape::text_or_nil);
            const std::string_view chunk = text_of_reply(*reply);
            if (static_cast<std::int64_t>(chunk.size()) != length_of_chunk(header_, number))
                return other_length(header_, number * redis_chunk_bytes + static_cast<std::int64_t>(chunk.size()));
            take(chunk);
        }
        return {};
    }

    RedisStore& store_;
    const RedisHeader& header_;
    std::string_view value_;
    RedisWork work_;
};

RedisReply read_value(RedisStore& store, std::string_view key) {
    return store.client().call(RedisStore::reading("get", key), {"GET", store.names().object(key)},
                               RedisShape::text_or_nil);
}

RedisHeader require_header(std::string_view verb, std::string_view key, std::string_view value) {
    auto header = read_redis_header(value, key);
    if (!header) refuse_damaged(verb, key, "the object's header is altered");
    return *std::move(header);
}

/// The content, or what is wrong with it.
struct ReadOutcome {
    std::string content{};
    std::string problem{};
};

ReadOutcome read_found(RedisStore& store, std::string_view key, const RedisHeader& header, std::string_view value,
                       std::int64_t from, std::int64_t bytes) {
    ReadOutcome outcome;
    const auto take = [&](std::string_view piece) { outcome.content += piece; };
    outcome.content.reserve(static_cast<std::size_t>(bytes));
    ObjectReader reader(store, key, header, value);
    const bool is_all = bytes == header.fingerprint.bytes;
    const bool has_chunks = redis_chunks_of(header.fingerprint.bytes) > 0;
    outcome.problem = is_all || !has_chunks ? reader.read_all(take) : reader.read_range(from, bytes, take);
    if (!is_all && !has_chunks && outcome.problem.empty())
        outcome.content = outcome.content.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(bytes));
    return outcome;
}

}  // namespace

void refuse_restless_redis(std::string_view verb, std::string_view key) {
    throw Error(Errc::storage_failed,
                fmt::format("{} \"{}\": it was another one at each of {} looks", verb, key, redis_most_rounds));
}

std::string read_raw_redis_header(RedisStore& store, std::string_view verb, std::string_view key) {
    const RedisReply reply = store.client().call(
        RedisStore::reading(verb, key),
        {"GETRANGE", store.names().object(key), "0", std::to_string(redis_header_bytes - 1)}, RedisShape::text);
    return std::string(text_of_reply(*reply));
}

std::optional<RedisHeader> find_redis_object(RedisStore& store, std::string_view verb, std::string_view key) {
    const std::string raw = read_raw_redis_header(store, verb, key);
    if (raw.empty()) return std::nullopt;
    return require_header(verb, key, raw);
}

std::optional<std::string> read_redis_object(RedisStore& store, std::string_view key, std::int64_t offset,
                                             std::int64_t max_bytes) {
    for (int i = 0; i < redis_most_rounds; ++i) {
        const RedisReply reply = read_value(store, key);
        if (is_nil(*reply)) return std::nullopt;
        const std::string_view value = text_of_reply(*reply);
        const RedisHeader header = require_header("get", key, value);
        const std::int64_t from = std::min(offset, header.fingerprint.bytes);
        const std::int64_t bytes = std::min(max_bytes, header.fingerprint.bytes - from);
        ReadOutcome outcome = read_found(store, key, header, value, from, bytes);
        if (outcome.problem.empty()) return std::move(outcome.content);
        // Chunks may be missing because the object was removed, or mended, meanwhile.
        if (read_raw_redis_header(store, "get", key) == value.substr(0, redis_header_bytes))
            refuse_damaged("get", key, outcome.problem);
    }
    refuse_restless_redis("get", key);
}

std::string damage_of_redis_object(RedisStore& store, std::string_view key, const RedisHeader& header) {
    const RedisReply reply = read_value(store, key);
    const std::string_view value = text_of_reply(*reply);
    if (value.size() < redis_header_bytes) return "it is gone";
    return ObjectReader(store, key, header, value).read_all([](std::string_view) {});
}

}  // namespace whittle::inline v0
