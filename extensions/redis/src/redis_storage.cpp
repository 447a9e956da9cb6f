#include "whittle/redis/redis_storage.hpp"

#include "redis_listing.hpp"
#include "redis_options.hpp"
#include "redis_publish.hpp"
#include "redis_reading.hpp"
#include "redis_writer.hpp"
#include "whittle/storage/detail/range.hpp"

#include <utility>

namespace whittle::inline v0 {
namespace {

class RedisStorageOver final : public RedisStorage {
public:
    explicit RedisStorageOver(std::shared_ptr<RedisStore> store) : store_(std::move(store)) {}

    void put_if_absent(std::string_view key, std::string_view content) override {
        require_valid_key("put", key);
        put_redis_object(store_, key, content);
    }

    std::optional<std::string> get(std::string_view key, std::int64_t offset, std::int64_t max_bytes) override {
        require_valid_key("get", key);
        require_range(key, offset, max_bytes);
        return read_redis_object(*store_, key, offset, max_bytes);
    }

    std::unique_ptr<StorageWriter> open_writer() override { return redis_writer(store_); }
    bool can_stream() override { return true; }

    std::optional<ObjectInfo> stat(std::string_view key) override {
        require_valid_key("stat", key);
        const auto header = find_redis_object(*store_, "stat", key);
        if (!header) return std::nullopt;
        return ObjectInfo{.key = std::string(key),
                          .bytes = header->fingerprint.bytes,
                          .stored_at_seconds = header->stored_at_seconds};
    }

    void list(std::string_view prefix, const std::function<bool(const ObjectInfo&)>& visit) override {
        list_redis_objects(*store_, prefix, visit);
    }

    bool remove(std::string_view key) override {
        require_valid_key("remove", key);
        return remove_redis_object(*store_, key);
    }

    std::vector<std::string> unverified_settings() const override {
        return store_->client().unverified_settings().all();
    }

private:
    std::shared_ptr<RedisStore> store_;
};

}  // namespace

std::shared_ptr<RedisStorage> redis_storage(RedisStorageOptions options) {
    require_redis_options(options);
    auto store = std::make_shared<RedisStore>(std::move(options));
    (void)store->client().call({.operation = "redis_storage"}, {"PING"}, RedisShape::status);
    return std::make_shared<RedisStorageOver>(std::move(store));
}

}  // namespace whittle::inline v0
