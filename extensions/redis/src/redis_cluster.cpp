#include "redis_cluster_map.hpp"
#include "redis_connection.hpp"
#include "redis_greeting.hpp"
#include "redis_router.hpp"
#include "redis_timed_mutex.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace whittle::inline v0 {
namespace {

/// The map of slots, asked for when a node failed or sent us elsewhere.
class ClusterRouter final : public RedisRouter {
public:
    ClusterRouter(const RedisStorageOptions& options, const RedisTlsSettings* tls)
        : options_(options), tls_(tls), seeds_(addresses_of(options)) {}

    RedisAddress primary_of(int slot, const RedisTry& next_try) override {
        if (const auto known = this->known(slot)) return *known;
        const RedisTimedMutex::Lock query_lock(map_mutex_, next_try.until, "waiting for the cluster's map");
        if (const auto known = this->known(slot)) return *known;
        query_nodes(next_try);
        if (const auto known = this->known(slot)) return *known;
        throw RedisRetry{.why = RedisRetry::Why::busy,
                         .reason = "no node of the cluster has the slot " + std::to_string(slot)};
    }

    void suspect(const RedisAddress& address) override {
        const std::lock_guard lock(mutex_);
        is_stale_ = true;
        suspected_ = address;
    }

    void moved(int slot, const RedisAddress& to) override {
        const std::lock_guard lock(mutex_);
        map_.set(slot, to);
        is_stale_ = true;  // a slot seldom comes alone
        has_newer_map_ = true;
    }

private:
    [[nodiscard]] std::optional<RedisAddress> known(int slot) {
        const std::lock_guard lock(mutex_);
        const RedisAddress* const primary = is_stale_ ? nullptr : map_.primary_of(slot);
        return primary ? std::optional(*primary) : std::nullopt;
    }

    /// Those of the map, then those that were given; whoever failed comes last.
    [[nodiscard]] std::vector<RedisAddress> nodes() {
        const std::lock_guard lock(mutex_);
        std::vector<RedisAddress> all = map_.nodes();
        for (const RedisAddress& seed : seeds_) {
            if (std::find(all.begin(), all.end(), seed) == all.end()) all.push_back(seed);
        }
        std::stable_partition(all.begin(), all.end(), [&](const RedisAddress& node) { return node != suspected_; });
        return all;
    }

    void query_nodes(const RedisTry& next_try) {
        std::string reason;
        for (const RedisAddress& node : nodes()) {
            try {
                return keep(query_node(node, next_try));
            } catch (const RedisRetry& failed) {
                reason = failed.reason;
            }
        }
        const std::lock_guard lock(mutex_);
        is_stale_ = !std::exchange(has_newer_map_, false);  // after MOVED the old map still leads on
        if (!is_stale_) return;
        throw RedisRetry{.why = RedisRetry::Why::busy,
                         .reason = "no node of the cluster answers, the last one: " + reason};
    }

    void keep(RedisClusterMap map) {
        const std::lock_guard lock(mutex_);
        map_ = std::move(map);
        is_stale_ = false;
        has_newer_map_ = false;
    }

    [[nodiscard]] RedisClusterMap query_node(const RedisAddress& node, const RedisTry& next_try) const {
        const auto own_until =
            std::chrono::steady_clock::now() + std::chrono::milliseconds(options_.connect_timeout_ms);
        RedisConnection connection(node, tls_, {next_try.operation, std::min(next_try.until, own_until)});
        log_in(connection, options_.credentials_provider ? options_.credentials_provider() : options_.credentials);
        return read_cluster_map(*connection.call({"CLUSTER", "SLOTS"}, RedisShape::any), node);
    }

    const RedisStorageOptions& options_;
    const RedisTlsSettings* tls_;
    RedisTimedMutex map_mutex_;  // held while others are asked
    const std::vector<RedisAddress> seeds_;
    std::mutex mutex_;
    RedisClusterMap map_;
    RedisAddress suspected_;
    bool is_stale_ = true;
    bool has_newer_map_ = false;
};

}  // namespace

std::unique_ptr<RedisRouter> make_cluster_router(const RedisStorageOptions& options, const RedisTlsSettings* tls) {
    return std::make_unique<ClusterRouter>(options, tls);
}

}  // namespace whittle::inline v0
