#include "redis_writer.hpp"

#include "redis_publish.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/hash.hpp"
#include "whittle/storage/detail/chunk_filler.hpp"
#include "whittle/storage/detail/commit_once.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace whittle::inline v0 {
namespace {

constexpr const char* write_attempt = "write \"(stream)\"";

/// A failover may take chunks that nobody has acknowledged.
constexpr int most_rewrites = 3;

std::string attempt_to_put(std::string_view key) { return fmt::format("put \"{}\"", key); }

[[noreturn]] void refuse_lost_chunks(std::string_view key) {
    throw Error(Errc::storage_failed,
                fmt::format("put \"{}\": a chunk of it is gone: it has expired, or a failover has lost it", key));
}

void put_long_object(const std::shared_ptr<RedisStore>& store, std::string_view key, std::string_view content,
                     const Fingerprint& fingerprint) {
    if (has_redis_object(*store, key, fingerprint)) return;
    RedisChunks chunks(store, redis_shard_of(key));
    for (int i = 0; i < most_rewrites; ++i) {
        chunks.write_all(attempt_to_put(key), content);
        if (publish_redis_object(*store, key, fingerprint, {}, &chunks)) return;
    }
    refuse_lost_chunks(key);
}

void put_of_fingerprint(const std::shared_ptr<RedisStore>& store, std::string_view key, std::string_view content,
                        const Fingerprint& fingerprint) {
    if (fingerprint.bytes > redis_inline_bytes) return put_long_object(store, key, content, fingerprint);
    (void)publish_redis_object(*store, key, fingerprint, content, nullptr);
}

class RedisWriter final : public StorageWriter {
public:
    explicit RedisWriter(std::shared_ptr<RedisStore> store) : store_(std::move(store)) {}

    void write(std::string_view bytes) override {
        if (!store_ || fingerprint_) throw Error(Errc::invalid_argument, "write: after commit");
        if (failed_) throw Error(Errc::storage_failed, fmt::format("{}: an earlier write failed", write_attempt));
        failed_ = true;
        hash_.update(bytes);
        bytes_ += static_cast<std::int64_t>(bytes.size());
        filler_.fill(bytes, [&](std::string_view full) { add_chunk(full); });
        failed_ = false;
    }

    void commit(std::string_view key) override {
        if (!store_) throw Error(Errc::invalid_argument, "commit: the writer is used up");
        commit_once([&] { commit_under(key); }, [&] { use_up(); });
    }

private:
    void add_chunk(std::string_view bytes) {
        if (!chunks_) {
            const auto shard = static_cast<int>(store_->client().random().next() % redis_shards);
            chunks_ = std::make_unique<RedisChunks>(store_, shard);
        }
        chunks_->add(write_attempt, bytes);
    }

    void commit_under(std::string_view key) {
        require_valid_key("put", key);
        if (failed_)
            throw Error(Errc::storage_failed, fmt::format("put \"{}\": an earlier write of this stream failed", key));
        if (!fingerprint_) {
            if (chunks_ && !filler_.rest().empty()) filler_.flush([&](std::string_view rest) { add_chunk(rest); });
            fingerprint_ = {.bytes = bytes_, .sha256 = hash_.hex_digest()};
        }
        if (!chunks_) return put_of_fingerprint(store_, key, filler_.rest(), *fingerprint_);
        if (has_redis_object(*store_, key, *fingerprint_)) return;
        chunks_->bring_to(attempt_to_put(key), redis_shard_of(key));
        if (!publish_redis_object(*store_, key, *fingerprint_, {}, chunks_.get())) refuse_lost_chunks(key);
    }

    void use_up() noexcept {
        chunks_.reset();
        store_.reset();
    }

    std::shared_ptr<RedisStore> store_;
    std::unique_ptr<RedisChunks> chunks_{};                            // once there is more than a chunk
    ChunkFiller filler_{static_cast<std::size_t>(redis_chunk_bytes)};  // its rest is behind those
    Sha256 hash_;
    std::int64_t bytes_ = 0;
    std::optional<Fingerprint> fingerprint_{};  // set when all is written
    bool failed_ = false;
};

}  // namespace

void put_redis_object(const std::shared_ptr<RedisStore>& store, std::string_view key, std::string_view content) {
    put_of_fingerprint(store, key, content,
                       {.bytes = static_cast<std::int64_t>(content.size()), .sha256 = sha256_hex(content)});
}

std::unique_ptr<StorageWriter> redis_writer(std::shared_ptr<RedisStore> store) {
    return std::make_unique<RedisWriter>(std::move(store));
}

}  // namespace whittle::inline v0
