#pragma once

#include "redis_store.hpp"

#include <memory>

namespace whittle::inline v0 {

/// Chunks that are no object's yet, under a name that nobody else has. They expire unless an object names them.
class RedisChunks {
public:
    /// Nothing is written yet. `shard`: of the object, or any one where its key is not known.
    RedisChunks(std::shared_ptr<RedisStore> store, int shard);
    /// Removes them, unless an object has them or may have them. Fails silently: they expire.
    ~RedisChunks();
    RedisChunks(const RedisChunks&) = delete;
    RedisChunks& operator=(const RedisChunks&) = delete;

    /// The next one. `operation` begins the texts of errors.
    void add(const std::string& operation, std::string_view bytes);
    /// All of a content, in place of what was written: once more after a failover took them.
    void write_all(const std::string& operation, std::string_view content);

    /// To where an object of this shard may have them. In a cluster they are copied, one by one.
    void bring_to(const std::string& operation, int shard);

    [[nodiscard]] const std::string& id() const noexcept { return id_; }
    [[nodiscard]] int shard() const noexcept { return shard_; }

    /// From now on an object may name them.
    void offer() noexcept { may_be_named_ = true; }
    /// None does.
    void take_back() noexcept { may_be_named_ = false; }

private:
    void write(const std::string& operation, int shard, std::int64_t number, std::string_view bytes);
    void remove_those_of(int shard) noexcept;

    std::shared_ptr<RedisStore> store_;
    std::string id_;
    int shard_;
    std::int64_t chunks_ = 0;
    bool may_be_named_ = false;
};

}  // namespace whittle::inline v0
