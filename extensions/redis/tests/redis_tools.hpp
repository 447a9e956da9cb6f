// What the tests of the Redis storage share.
#pragma once

#include "redis_servers.hpp"
#include "storage/posix_tools.hpp"
#include "support/storage_tools.hpp"
#include "support/suite_sizes.hpp"
#include "whittle/redis/redis_storage.hpp"

#include <atomic>

/// Ends the test case where no server can be started.
#define NEED_REDIS_SERVER()                                                                   \
    do {                                                                                      \
        if (whittle::testing::redis_server_program().empty())                                 \
            SKIP_WITH_MESSAGE("redis-server is not installed: apt-get install redis-server"); \
    } while (false)

namespace whittle::testing {

/// One server for all tests that are content with prefixes of their own.
inline RedisServer& shared_redis() {
    static RedisServer server;
    return server;
}

/// A prefix that nobody else has.
inline std::string new_prefix() {
    static std::atomic<int> number = 0;  // stores are opened by several threads at once
    return "t" + std::to_string(++number) + ":";
}

inline RedisStorageOptions options_of(const RedisServer& server, std::string prefix = new_prefix()) {
    RedisStorageOptions options;
    options.addresses = {server.address()};
    options.key_prefix = std::move(prefix);
    return options;
}

/// A new store with a prefix of its own for each check of the suite; the servers are emptied after it, so that they
/// need memory for one check's objects only.
inline NewStorage each_emptied(std::vector<RedisServer*> servers,
                               std::function<std::shared_ptr<Storage>(const std::string& prefix)> open) {
    return [servers = std::move(servers), open = std::move(open)] {
        const std::shared_ptr<void> when_gone(nullptr, [servers](void*) {
            for (RedisServer* const server : servers) server->raw().run({"FLUSHALL"});
        });
        return [open, when_gone, prefix = new_prefix()] { return open(prefix); };
    };
}

/// Streams `content` in pieces of `step` bytes.
inline void stream_to(Storage& storage, std::string_view key, std::string_view content, std::size_t step) {
    const auto writer = storage.open_writer();
    for (std::size_t at = 0; at < content.size(); at += step) writer->write(content.substr(at, step));
    writer->commit(key);
}

/// Content in which every position says where it is.
inline std::string numbered_text(std::size_t bytes) {
    std::string text;
    text.reserve(bytes + 12);
    while (text.size() < bytes) text += std::to_string(text.size()) + ' ';
    text.resize(bytes);
    return text;
}

}  // namespace whittle::testing
