#include "stores.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <thread>
#if WHITTLE_HAVE_SQLITE
#    include <whittle/sqlite/sqlite_storage.hpp>
#endif
#if WHITTLE_HAVE_REDIS
#    include "extensions/redis/tests/redis_servers.hpp"

#    include <whittle/redis/redis_storage.hpp>
#endif

namespace whittle::bench {
namespace {

#if WHITTLE_HAVE_SQLITE
class SqliteFleetStore final : public FleetStore {
public:
    SqliteFleetStore(const std::string& folder, const std::string& durability) : path_(folder + "/objects.db") {
        options_.busy_timeout_ms = 60'000;
        if (durability == "none") options_.durability = Durability::none;
        if (durability == "full") options_.durability = Durability::full;
    }
    std::shared_ptr<Storage> open() const override { return sqlite_storage(path_, options_); }
    std::size_t problems() override { return sqlite_storage(path_)->verify().size(); }

private:
    std::string path_;
    SqliteStorageOptions options_;
};
#endif

#if WHITTLE_HAVE_REDIS
RedisDurability durability_of(const std::string& asked, RedisDurability usual) {
    if (asked == "reply") return RedisDurability::reply;
    if (asked == "one_replica") return RedisDurability::one_replica;
    if (asked == "all_replicas") return RedisDurability::all_replicas;
    return usual;
}

class RedisFleetStore final : public FleetStore {
public:
    explicit RedisFleetStore(const std::string& durability) {
        options_.addresses = {server_.address()};
        options_.durability = durability_of(durability, RedisDurability::reply);
    }
    std::shared_ptr<Storage> open() const override { return redis_storage(options_); }

private:
    testing::RedisServer server_{};
    RedisStorageOptions options_;
};

/// Three primaries, a replica of each. Meanwhile one primary is killed, and comes back as a replica; and slots move
/// between the other two.
class ClusterFleetStore final : public FleetStore {
public:
    explicit ClusterFleetStore(const std::string& durability) {
        options_.topology = RedisTopology::cluster;
        options_.addresses = cluster_.addresses();
        options_.durability = durability_of(durability, RedisDurability::one_replica);
    }
    std::shared_ptr<Storage> open() const override { return redis_storage(options_); }

    void disturb(const std::atomic<bool>& is_over) override {
        move_away(is_over);
        if (is_over) return;
        cluster_.node(1).kill_now();
        bring_back();
        testing::wait_until("the failover", [&] {
            return cluster_.node(4).raw().run({"INFO", "replication"}).find("role:master") != std::string::npos;
        });
        const bool was_meanwhile = !is_over;
        // The new primary has no replica: it acknowledges nothing.
        std::this_thread::sleep_for(std::chrono::seconds(7));
        cluster_.node(1).start();
        while (!is_over) {
            move_away(is_over);
            bring_back();
        }
        fmt::print("{} moves of slots; a primary was killed{}, its replica followed, and it came back\n", moves_,
                   was_meanwhile ? "" : " too late");
    }

private:
    void move_away(const std::atomic<bool>& is_over) {
        for (const int slot : slots_with_objects()) {
            if (is_over) return;
            cluster_.move_slot(slot, 0, 2);
            away_.push_back(slot);
            ++moves_;
        }
    }

    void bring_back() {
        for (const int slot : away_) {
            cluster_.move_slot(slot, 2, 0);
            ++moves_;
        }
        away_.clear();
    }

    /// Some of the first node's that have something by now.
    const std::vector<int>& slots_with_objects() {
        if (!moving_.empty()) return moving_;
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        testing::RawRedis raw = cluster_.node(0).raw();
        for (int slot = 0; moving_.size() < 8 && slot < 16'384 / 3; ++slot) {
            if (raw.number({"CLUSTER", "COUNTKEYSINSLOT", std::to_string(slot)}) > 0) moving_.push_back(slot);
        }
        return moving_;
    }

    testing::RedisCluster cluster_{
        3, 1, {"--client-output-buffer-limit", "replica", "0", "0", "0", "--cluster-node-timeout", "3000"}};
    RedisStorageOptions options_;
    std::vector<int> moving_;
    std::vector<int> away_;  ///< of those, on the third node now
    int moves_ = 0;
};

std::unique_ptr<FleetStore> make_redis_fleet_store(const std::string& kind, const std::string& durability) {
    if (testing::redis_server_program().empty()) throw std::runtime_error("redis-server is not installed");
    if (kind == "cluster") return std::make_unique<ClusterFleetStore>(durability);
    return std::make_unique<RedisFleetStore>(durability);
}
#endif

}  // namespace

std::unique_ptr<FleetStore> make_fleet_store(const std::string& kind, const std::string& folder,
                                             const std::string& durability) {
#if WHITTLE_HAVE_SQLITE
    if (kind == "sqlite") return std::make_unique<SqliteFleetStore>(folder, durability);
#endif
#if WHITTLE_HAVE_REDIS
    if (kind == "redis" || kind == "cluster") return make_redis_fleet_store(kind, durability);
#endif
    throw std::runtime_error(fmt::format("no store \"{}\" in this build", kind));
}

}  // namespace whittle::bench
