// What does the Redis storage cost over hiredis alone, for put and get? Both over TCP on loopback to one server of
// ours, with one connection; alone means `SET key value NX` and `GET key`. Rounds by turns, best of all; ratios are the
// point. bench_redis
#include "store_times.hpp"

#include "extensions/redis/tests/redis_servers.hpp"

#include <whittle/redis/redis_storage.hpp>

#include <fmt/format.h>
#include <hiredis/hiredis.h>

#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

using namespace whittle;
using bench::random_bytes;

namespace {

constexpr int rounds = 7;

/// hiredis as one uses it by hand.
class Bare {
public:
    explicit Bare(int port) : context_(::redisConnect("127.0.0.1", port)) {
        if (context_ == nullptr || context_->err != 0) throw std::runtime_error("no server");
    }
    ~Bare() { ::redisFree(context_); }
    Bare(const Bare&) = delete;
    Bare& operator=(const Bare&) = delete;

    void put(const std::string& key, const std::string& value) {
        const Reply reply = run("SET %b %b NX", key, value);
        if (reply->type != REDIS_REPLY_STATUS) throw std::runtime_error("not set");
    }
    std::string get(const std::string& key) {
        const Reply reply = run("GET %b%b", key, std::string());
        return {reply->str, reply->len};
    }

private:
    struct Free {
        void operator()(redisReply* reply) const { ::freeReplyObject(reply); }
    };
    using Reply = std::unique_ptr<redisReply, Free>;

    Reply run(const char* format, const std::string& key, const std::string& value) {
        Reply reply(static_cast<redisReply*>(
            ::redisCommand(context_, format, key.data(), key.size(), value.data(), value.size())));
        if (!reply) throw std::runtime_error(context_->errstr);
        return reply;
    }

    redisContext* context_;
};

class Ours {
public:
    explicit Ours(int port) {
        RedisStorageOptions options;
        options.addresses = {fmt::format("127.0.0.1:{}", port)};
        storage_ = redis_storage(options);
    }
    void put(const std::string& key, const std::string& value) { storage_->put_if_absent(key, value); }
    std::string get(const std::string& key) { return storage_->get(key).value(); }

private:
    std::shared_ptr<RedisStorage> storage_;
};

template <typename Store>
void measure_store(bench::StoreTimes& best, Store& store, int round, int count, const std::string& content) {
    bench::measure_round(
        best, fmt::format("conversation-{}", round), count, content,
        [&](const std::string& key, const std::string& value) { store.put(key, value); },
        [&](const std::string& key) { return store.get(key); });
}

void measure_size(std::size_t bytes, int count) {
    const testing::RedisServer server;
    Ours own_store(server.port());
    Bare bare_store(server.port());
    const std::string content = random_bytes(bytes);
    bench::StoreTimes ours, bare;
    double hash = std::numeric_limits<double>::max();
    for (int round = 0; round < rounds; ++round) {
        measure_store(ours, own_store, round, count, content);
        server.raw().run({"FLUSHALL"});
        measure_store(bare, bare_store, round, count, content);
        server.raw().run({"FLUSHALL"});
        bench::measure_hash(hash, content);
    }
    fmt::print("{}", bench::rows_of(ours, bare, hash, count, bytes));
}

}  // namespace

int main() {
    if (testing::redis_server_program().empty()) {
        fmt::print("redis-server is not installed: apt-get install redis-server\n");
        return 1;
    }
    fmt::print("hiredis {}.{}: best of {} rounds, time of one object; hash is SHA-256 alone, as a part of bare\n",
               HIREDIS_MAJOR, HIREDIS_MINOR, rounds);
    measure_size(1'024, 3'000);
    measure_size(65'536, 500);
    measure_size(1 << 20, 50);
    measure_size(64 << 20, 2);
}
