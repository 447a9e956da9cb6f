// Objects in a cluster, while slots move and primaries die, and behind sentinels.
#include "../src/redis_layout.hpp"

#include "redis_proxy.hpp"
#include "redis_tools.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <set>

using namespace whittle;
using testing::contains;
using testing::errc_of;
using testing::error_of;
using testing::new_prefix;
using testing::numbered_text;
using testing::ProxyStep;
using testing::RedisCluster;
using testing::RedisProxy;
using testing::RedisSentinel;
using testing::RedisServer;

namespace {

RedisCluster& shared_cluster() {
    static RedisCluster cluster(3);
    return cluster;
}

RedisStorageOptions in_cluster(RedisCluster& cluster) {
    RedisStorageOptions options;
    options.topology = RedisTopology::cluster;
    options.addresses = {cluster.node(0).address()};  // the others are found
    options.key_prefix = new_prefix();
    options.deadline_ms = 30'000;
    return options;
}

std::vector<std::string> keys_in_shard(int shard, std::size_t count) {
    std::vector<std::string> keys;
    for (int i = 0; keys.size() < count; ++i) {
        const std::string key = "key-" + std::to_string(i);
        if (redis_shard_of(key) == shard) keys.push_back(key);
    }
    return keys;
}

/// Which node of three has a slot.
int node_of_slot(int slot) { return slot * 3 / 16'384; }

}  // namespace

TEST_CASE("hash slots are those of Redis, and shards lie evenly over them", "[redis]") {
    CHECK(redis_slot_of("123456789") == 0x31c3 % 16'384);  // the check value of CRC16/XMODEM
    CHECK(redis_slot_of("foo") == 12'182);
    CHECK(redis_slot_of("") == 0);
    std::set<std::string> tags;
    for (int shard = 0; shard < redis_shards; ++shard) {
        CHECK(redis_slot_of_shard(shard) / 64 == shard);
        tags.insert(redis_tag_of(shard));
    }
    CHECK(tags.size() == 256);
}

TEST_CASE("what an object begins with is read as it was written, for its key alone", "[redis]") {
    const RedisHeader header{.fingerprint = {.bytes = 5'000'000'000, .sha256 = std::string(64, 'a')},
                             .id = std::string(32, 'b'),
                             .shard = 255,
                             .stored_at_seconds = 1'800'000'000};
    const std::string bytes = to_bytes(header, "k");
    CHECK(bytes.size() == redis_header_bytes);
    CHECK(read_redis_header(bytes + "content", "k") == header);
    CHECK_FALSE(read_redis_header(bytes, "l"));
    for (std::size_t at = 0; at < bytes.size() - 1; ++at) {
        std::string altered = bytes;
        altered[at] = altered[at] == '1' ? '2' : '1';
        CAPTURE(at);
        CHECK_FALSE(read_redis_header(altered, "k"));
        CHECK_FALSE(read_redis_header(bytes.substr(0, at), "k"));
    }
}

TEST_CASE("objects in a cluster keep the storage contract", "[storage][redis][contract]") {
    NEED_REDIS_SERVER();
    RedisCluster& cluster = shared_cluster();
    testing::check_conformance(testing::each_emptied({&cluster.node(0), &cluster.node(1), &cluster.node(2)},
                                                     [&](const std::string& prefix) {
                                                         auto options = in_cluster(cluster);
                                                         options.key_prefix = prefix;
                                                         return redis_storage(options);
                                                     }),
                               testing::suite_sizes());
}

TEST_CASE("objects lie on all nodes of a cluster, each with all its keys on one", "[storage][redis]") {
    NEED_REDIS_SERVER();
    RedisCluster& cluster = shared_cluster();
    const auto options = in_cluster(cluster);
    const auto storage = redis_storage(options);
    for (int i = 0; i < 300; ++i) storage->put_if_absent("k/" + std::to_string(i), "content");
    testing::stream_to(*storage, "stream", numbered_text(3 << 20), 1 << 20);
    for (int i = 0; i < 3; ++i) CHECK(cluster.node(i).raw().keys(options.key_prefix + "*:o:*").size() > 70);
    const int node = node_of_slot(redis_slot_of_shard(redis_shard_of("stream")));
    for (int i = 0; i < 3; ++i)
        CHECK(cluster.node(i).raw().keys(options.key_prefix + "*:c:*").size() == (i == node ? 3U : 0U));
    CHECK(testing::keys_below(*storage, "").size() == 301);
}

TEST_CASE("a slot that moves keeps its objects within reach, those that have gone and those that have not",
          "[storage][redis]") {
    NEED_REDIS_SERVER();
    RedisCluster& cluster = shared_cluster();
    const auto options = in_cluster(cluster);
    const auto knows_old_map = redis_storage(options);
    constexpr int shard = 3;
    const auto keys = keys_in_shard(shard, 3);
    const std::string content = numbered_text(3 << 20);
    knows_old_map->put_if_absent(keys[0], "short");
    knows_old_map->put_if_absent(keys[1], content);
    const auto read_all = [&](RedisStorage& storage) {
        CHECK(storage.get(keys[0]) == "short");
        CHECK(storage.get(keys[1]) == content);
        CHECK(storage.get(keys[1], 2 << 20, 10) == content.substr(2 << 20, 10));
        CHECK(storage.stat(keys[1])->bytes == 3 << 20);
        CHECK(testing::keys_below(storage, "").size() == 2);
        CHECK_FALSE(storage.get(keys[2]));
    };
    auto hurried = options;
    hurried.deadline_ms = 200;
    int times = 0;
    cluster.move_slot(redis_slot_of_shard(shard), 0, 1, [&] {
        read_all(*knows_old_map);
        read_all(*redis_storage(options));
        // A command with several keys waits for the end of the move, if some of them are here and some are not.
        CHECK(contains(error_of([&] { redis_storage(hurried)->put_if_absent(keys[2], "new"); }), "TRYAGAIN"));
        ++times;
    });
    CHECK(times == 2);
    read_all(*knows_old_map);
    knows_old_map->put_if_absent(keys[2], "new");
    CHECK(knows_old_map->remove(keys[1]));
    cluster.move_slot(redis_slot_of_shard(shard), 1, 0);
    CHECK(knows_old_map->get(keys[2]) == "new");
    CHECK(cluster.node(1).raw().keys(options.key_prefix + "*{" + redis_tag_of(shard) + "}*").empty());
}

TEST_CASE("writers go on while slots move to and fro", "[storage][redis]") {
    NEED_REDIS_SERVER();
    RedisCluster& cluster = shared_cluster();
    const auto options = in_cluster(cluster);
    const auto storage = redis_storage(options);
    std::atomic<bool> is_over = false;
    std::atomic<int> written = 0;
    std::vector<std::thread> writers;
    for (int w = 0; w < 3; ++w) {
        writers.emplace_back([&, w] {
            for (int i = 0; !is_over; ++i) {
                const std::string key = std::to_string(w) + "/" + std::to_string(i);
                storage->put_if_absent(key, key);
                if (storage->get(key) != key) throw std::runtime_error("lost " + key);
                ++written;
            }
        });
    }
    for (int round = 0; round < (testing::is_soak() ? 20 : 2); ++round) {
        const int from = round % 2, to = 1 - from;
        for (int shard = 0; shard < 20; ++shard) cluster.move_slot(redis_slot_of_shard(shard), from, to);
    }
    is_over = true;
    for (std::thread& writer : writers) writer.join();
    CHECK(written > 100);
    CHECK(testing::keys_below(*storage, "").size() == static_cast<std::size_t>(written));
}

TEST_CASE("nodes that send each other's clients in a circle are an error at the deadline", "[storage][redis]") {
    NEED_REDIS_SERVER();
    RedisCluster& cluster = shared_cluster();
    const bool is_asking = GENERATE(false, true);  // outlives the proxy, whose threads ask it
    RedisProxy proxy(cluster.node(0).port());
    proxy.decide([&](int, const std::vector<std::string>& words) {
        if (words.front() == "CLUSTER")
            return ProxyStep{
                .kind = ProxyStep::Kind::answer,
                .text = "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$0\r\n\r\n:" + proxy.address().substr(10) + "\r\n"};
        if (words.front() != "GET") return ProxyStep{};
        return ProxyStep{.kind = ProxyStep::Kind::answer,
                         .text = (is_asking ? "-ASK 1 " : "-MOVED 1 ") + proxy.address() + "\r\n"};
    });
    auto options = in_cluster(cluster);
    options.addresses = {proxy.address()};
    options.deadline_ms = 300;
    const auto storage = redis_storage(options);
    const std::string text = error_of([&] { (void)storage->get("k"); });
    CHECK(contains(text, "get \"k\": not within 300 ms, at last: "));
    CHECK(proxy.commands() < 500);  // there are pauses
}

TEST_CASE("a primary of a cluster that dies is followed by its replica, and nothing acknowledged is lost",
          "[storage][redis]") {
    NEED_REDIS_SERVER();
    RedisCluster cluster(3, 1);
    auto options = in_cluster(cluster);
    options.addresses = cluster.addresses();
    options.durability = RedisDurability::one_replica;
    const auto storage = redis_storage(options);
    std::map<std::string, std::string> acknowledged;
    const auto put_some = [&](Storage& through, const std::string& folder) {
        for (int i = 0; i < 60; ++i) {
            const std::string key = folder + std::to_string(i);
            through.put_if_absent(key, key);
            acknowledged.emplace(key, key);
        }
    };
    put_some(*storage, "before/");
    cluster.node(1).kill_now();
    options.durability = RedisDurability::reply;  // a replica that took over has none of its own
    const auto later = redis_storage(options);
    put_some(*later, "after/");
    for (const auto& [key, content] : acknowledged) {
        CAPTURE(key);
        CHECK(later->get(key) == content);
    }
    CHECK(testing::keys_below(*later, "").size() == acknowledged.size());
}

TEST_CASE("behind sentinels the primary is found, and the next one after it dies", "[storage][redis]") {
    NEED_REDIS_SERVER();
    RedisServer primary;
    RedisServer replica({"--replicaof", "127.0.0.1", std::to_string(primary.port())});
    testing::wait_until("the replica", [&] {
        return contains(primary.raw().run({"INFO", "replication"}), "state=online");
    });
    RedisSentinel sentinel(primary.port(), 1);
    testing::wait_until("the sentinel", [&] {
        return contains(sentinel.raw().run({"INFO", "sentinel"}), "slaves=1,sentinels=1");
    });
    RedisStorageOptions options;
    options.topology = RedisTopology::sentinel;
    options.addresses = {"127.0.0.1:1", sentinel.address()};  // one of them is away
    options.sentinel_primary = "main";
    options.durability = RedisDurability::one_replica;
    options.deadline_ms = 30'000;
    const auto storage = redis_storage(options);
    storage->put_if_absent("before", "content");
    options.durability = RedisDurability::reply;
    const auto later = redis_storage(options);
    primary.kill_now();
    later->put_if_absent("after", "more");
    CHECK(later->get("before") == "content");
    CHECK(later->get("after") == "more");
    CHECK(replica.raw().keys("whittle:*:o:*").size() == 2);
    primary.start();  // comes back as if it were a primary, until the sentinels tell it
    CHECK(redis_storage(options)->get("after") == "more");
    options.sentinel_primary = "other";
    CHECK(error_of([&] { (void)redis_storage(options); }) == "redis_storage: sentinels know no primary \"other\"");
}
