#include "redis_chunks.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace whittle::inline v0 {

RedisChunks::RedisChunks(std::shared_ptr<RedisStore> store, int shard)
    : store_(std::move(store)), id_(store_->new_id()), shard_(shard) {}

RedisChunks::~RedisChunks() {
    if (!may_be_named_) remove_those_of(shard_);
}

void RedisChunks::write(const std::string& operation, int shard, std::int64_t number, std::string_view bytes) {
    const RedisWork work{.operation = operation, .slot = redis_slot_of_shard(shard), .is_write = true};
    (void)store_->client().call(work,
                                {"SET", store_->names().chunk(shard, id_, number), bytes, "EX",
                                 std::to_string(store_->options().unfinished_write_max_age_seconds)},
                                RedisShape::ok);
}

void RedisChunks::add(const std::string& operation, std::string_view bytes) {
    if (chunks_ == redis_most_chunks)
        throw Error(Errc::storage_failed, fmt::format("{}: an object has at most {} bytes in Redis", operation,
                                                      redis_most_chunks * redis_chunk_bytes));
    write(operation, shard_, chunks_, bytes);
    ++chunks_;
}

void RedisChunks::write_all(const std::string& operation, std::string_view content) {
    constexpr auto chunk = static_cast<std::size_t>(redis_chunk_bytes);
    chunks_ = 0;
    for (; !content.empty(); content.remove_prefix(std::min(chunk, content.size())))
        add(operation, content.substr(0, chunk));
}

void RedisChunks::bring_to(const std::string& operation, int shard) {
    if (shard == shard_ || store_->can_span_shards()) return;
    const RedisWork reading{.operation = operation, .slot = redis_slot_of_shard(shard_)};
    for (std::int64_t number = 0; number < chunks_; ++number) {
        const RedisReply reply = store_->client().call(reading, {"GET", store_->names().chunk(shard_, id_, number)},
                                                       RedisShape::text_or_nil);
        if (!is_text(*reply))
            throw Error(Errc::storage_failed, fmt::format("{}: a chunk of this stream is gone: it has expired, or a "
                                                          "failover has lost it",
                                                          operation));
        write(operation, shard, number, text_of_reply(*reply));
    }
    remove_those_of(std::exchange(shard_, shard));
}

void RedisChunks::remove_those_of(int shard) noexcept {
    try {
        const RedisWork work{.operation = "remove chunks", .slot = redis_slot_of_shard(shard)};
        for (std::int64_t number = 0; number < chunks_; ++number)
            (void)store_->client().call(work, {"UNLINK", store_->names().chunk(shard, id_, number)},
                                        RedisShape::integer);
    } catch (...) {
        // They expire.
    }
}

}  // namespace whittle::inline v0
