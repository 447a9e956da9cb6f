#pragma once

#include "redis_client.hpp"
#include "redis_layout.hpp"

#include <atomic>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// What the parts of a storage share; it and its writers hold it together. Thread-safe.
class RedisStore {
public:
    explicit RedisStore(RedisStorageOptions options);

    [[nodiscard]] RedisClient& client() noexcept { return client_; }
    [[nodiscard]] const RedisNames& names() const noexcept { return names_; }
    [[nodiscard]] const RedisStorageOptions& options() const noexcept { return client_.options(); }

    /// Work on the shard of `key`, whose errors begin with `verb "key"`.
    [[nodiscard]] static RedisWork reading(std::string_view verb, std::string_view key);
    [[nodiscard]] static RedisWork writing(std::string_view verb, std::string_view key);

    /// Waits until what was written on this connection is as durable as asked for. Throws Error(storage_failed), which
    /// says how far it came.
    void make_durable(RedisConnection& connection) const;
    /// The same for what is there already, whoever wrote it.
    void make_shard_durable(const RedisWork& work, int shard);

    /// Whether one script may use the keys of several shards.
    [[nodiscard]] bool can_span_shards() const noexcept;

    [[nodiscard]] std::string new_id();
    [[nodiscard]] std::int64_t now_seconds() const;

private:
    [[nodiscard]] std::int64_t replicas_of(RedisConnection& connection) const;

    RedisClient client_;
    RedisNames names_;
    std::shared_ptr<IdSource> ids_;
    std::shared_ptr<Clock> clock_;
};

/// "[a\0" and "(a\1": what an index has of the key `a`.
struct RedisEntryRange {
    std::string first{};
    std::string last{};
};
[[nodiscard]] RedisEntryRange entries_of_key(std::string_view key);

}  // namespace whittle::inline v0
