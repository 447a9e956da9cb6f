#include "redis_publish.hpp"

#include "redis_reading.hpp"
#include "redis_scripts.hpp"
#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <optional>

namespace whittle::inline v0 {
namespace {

/// What a key has that is asked to have a content.
enum class ObjectState { whole, damaged };

/// Throws Error(already_exists) for another content, Error(damaged) for a header that tells nothing.
ObjectState judge_found(RedisStore& store, std::string_view key, std::string_view raw, const Fingerprint& fingerprint) {
    const auto header = read_redis_header(raw, key);
    if (!header) throw Error(Errc::damaged, fmt::format("put \"{}\": the object's header is altered", key));
    if (header->fingerprint != fingerprint)
        throw Error(Errc::already_exists, fmt::format("put \"{}\": the key exists with other content", key));
    return damage_of_redis_object(store, key, *header).empty() ? ObjectState::whole : ObjectState::damaged;
}

/// The script's words: views of what this holds.
class Publication {
public:
    Publication(RedisStore& store, std::string_view key, const RedisHeader& header, std::string_view inline_content)
        : value_(to_bytes(header, key)), range_(entries_of_key(key)), live_(store.options().expire_after_seconds) {
        value_ += inline_content;
        entry_ = to_bytes(RedisEntry{std::string(key), header.fingerprint.bytes, header.stored_at_seconds, live_ > 0});
        keys_ = {store.names().object(key), store.names().index(redis_shard_of(key))};
        const auto chunks = store.names().chunks(header);
        new_chunks_ = chunks.size();
        keys_.insert(keys_.end(), chunks.begin(), chunks.end());
        bytes_ = header.fingerprint.bytes;
    }

    /// Instead of an object that has this header and these chunks.
    void replace(std::string header, const std::vector<std::string>& chunks) {
        replaced_ = std::move(header);
        keys_.resize(2 + new_chunks_);
        keys_.insert(keys_.end(), chunks.begin(), chunks.end());
    }

    RedisReply run(RedisConnection& connection) const {
        const std::string numbers[] = {
            std::to_string(keys_.size()), std::to_string(redis_header_bytes), std::to_string(live_),
            std::to_string(bytes_),       std::to_string(redis_chunk_bytes),  std::to_string(new_chunks_)};
        RedisWords words{numbers[0]};
        words.insert(words.end(), keys_.begin(), keys_.end());
        for (const std::string_view word :
             {std::string_view(value_), std::string_view(numbers[1]), std::string_view(replaced_),
              std::string_view(numbers[2]), std::string_view(entry_), std::string_view(range_.first),
              std::string_view(range_.last), std::string_view(numbers[3]), std::string_view(numbers[4]),
              std::string_view(numbers[5])})
            words.push_back(word);
        return connection.call_script(redis_publish_script, words, RedisShape::integer_or_text);
    }

private:
    std::string value_;
    RedisEntryRange range_;
    std::int64_t live_;
    std::int64_t bytes_ = 0;
    std::string entry_{};
    std::string replaced_{};
    std::vector<std::string> keys_{};
    std::size_t new_chunks_ = 0;
};

/// The chunks of an object that the script for `key` may name.
std::vector<std::string> other_chunks(RedisStore& store, std::string_view key, std::string_view raw_header) {
    const auto header = read_redis_header(raw_header, key);
    if (!header || (!store.can_span_shards() && header->shard != redis_shard_of(key))) return {};
    return store.names().chunks(*header);
}

}  // namespace

std::optional<bool> publish_redis_object(RedisStore& store, std::string_view key, const Fingerprint& fingerprint,
                                         std::string_view inline_content, RedisChunks* chunks) {
    const RedisHeader header{.fingerprint = fingerprint,
                             .id = chunks ? chunks->id() : store.new_id(),
                             .shard = chunks ? chunks->shard() : redis_shard_of(key),
                             .stored_at_seconds = store.now_seconds()};
    const RedisWork work = RedisStore::writing("put", key);
    Publication publication(store, key, header, inline_content);
    if (chunks) chunks->offer();
    for (int i = 0; i < redis_most_rounds; ++i) {
        RedisReply reply;
        store.client().perform(work, [&](RedisConnection& connection) {
            reply = publication.run(connection);
            const std::int64_t number = integer_of_reply(*reply);
            if (is_integer(*reply) && number != 1 && (number != 0 || chunks == nullptr)) connection.refuse_last();
            if (number == 1) store.make_durable(connection);
        });
        if (integer_of_reply(*reply) == 1) return true;
        const std::string found(text_of_reply(*reply));
        const bool is_ours = found == to_bytes(header, key);  // a try of which no answer came
        if (chunks && !is_ours) chunks->take_back();
        if (is_integer(*reply)) return std::nullopt;
        if (judge_found(store, key, found, fingerprint) == ObjectState::whole) {
            store.make_shard_durable(work, redis_shard_of(key));
            return is_ours;
        }
        publication.replace(found, other_chunks(store, key, found));
        if (chunks) chunks->offer();
    }
    refuse_restless_redis("put", key);
}

bool has_redis_object(RedisStore& store, std::string_view key, const Fingerprint& fingerprint) {
    const std::string raw = read_raw_redis_header(store, "put", key);
    if (raw.empty() || judge_found(store, key, raw, fingerprint) == ObjectState::damaged) return false;
    store.make_shard_durable(RedisStore::writing("put", key), redis_shard_of(key));
    return true;
}

bool remove_redis_object(RedisStore& store, std::string_view key) {
    const RedisEntryRange range = entries_of_key(key);
    const RedisWork work = RedisStore::writing("remove", key);
    bool may_be_done = false;
    for (int i = 0; i < redis_most_rounds; ++i) {
        const std::string raw = read_raw_redis_header(store, "remove", key);
        if (raw.empty()) {
            if (may_be_done) store.make_shard_durable(work, redis_shard_of(key));
            return may_be_done;
        }
        std::vector<std::string> keys = other_chunks(store, key, raw);
        keys.insert(keys.begin(), {store.names().object(key), store.names().index(redis_shard_of(key))});
        const std::string numbers[] = {std::to_string(keys.size()), std::to_string(redis_header_bytes)};
        RedisWords words{numbers[0]};
        words.insert(words.end(), keys.begin(), keys.end());
        for (const std::string_view word : {std::string_view(raw), std::string_view(numbers[1]),
                                            std::string_view(range.first), std::string_view(range.last)})
            words.push_back(word);
        int tries = 0;
        bool is_done = false;
        store.client().perform(work, [&](RedisConnection& connection) {
            ++tries;
            const RedisReply reply = connection.call_script(redis_remove_script, words, RedisShape::integer);
            const std::int64_t number = integer_of_reply(*reply);
            if (number != 0 && number != 1) connection.refuse_last();
            is_done = number == 1;
            if (is_done) store.make_durable(connection);
        });
        if (is_done) return true;
        may_be_done = tries > 1;  // by a try of which no answer came
    }
    refuse_restless_redis("remove", key);
}

}  // namespace whittle::inline v0
