#include "redis_pool.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0 {

RedisPool::RedisPool(const RedisStorageOptions& options, const RedisTlsSettings* tls,
                     RedisUnverifiedSettings& unverified_settings)
    : options_(options), tls_(tls), unverified_(unverified_settings) {}

RedisPool::Lease::Lease(RedisPool& pool, std::unique_ptr<RedisConnection> connection, bool is_new) noexcept
    : pool_(pool), connection_(std::move(connection)), is_new_(is_new) {}

RedisPool::Lease::~Lease() { pool_.give_back(std::move(connection_)); }

RedisPool::Lease RedisPool::lease(const RedisAddress& address, const RedisTry& next_try) {
    if (auto idle = take(address, next_try)) return {*this, std::move(idle), false};
    try {
        return {*this, connect(address, next_try), true};
    } catch (...) {
        give_up_place(address);
        throw;
    }
}

/// An idle connection, or null with a place taken for a new one.
std::unique_ptr<RedisConnection> RedisPool::take(const RedisAddress& address, const RedisTry& next_try) {
    std::unique_lock lock(mutex_);
    Server& server = servers_[address];
    const auto has_room = [&] { return !server.idle.empty() || server.places_taken < options_.max_connections; };
    if (!place_freed_.wait_until(lock, next_try.until, has_room))
        throw RedisRetry{.why = RedisRetry::Why::busy,
                         .reason = to_string(address) + ": all " + std::to_string(options_.max_connections) +
                                   " connections are in use"};
    if (!server.idle.empty()) {
        auto connection = std::move(server.idle.back());
        server.idle.pop_back();
        return connection;
    }
    ++server.places_taken;
    return nullptr;
}

std::unique_ptr<RedisConnection> RedisPool::connect(const RedisAddress& address, const RedisTry& next_try) const {
    const auto connected_until =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(options_.connect_timeout_ms);
    auto connection = std::make_unique<RedisConnection>(
        address, tls_, RedisTry{next_try.operation, std::min(next_try.until, connected_until)});
    connection->begin(next_try, false);
    greet_redis(*connection, options_, unverified_);
    return connection;
}

void RedisPool::give_back(std::unique_ptr<RedisConnection> connection) noexcept {
    if (!connection) return;
    if (!connection->is_sound()) return give_up_place(connection->address());
    const std::lock_guard lock(mutex_);
    Server& server = servers_.at(connection->address());
    try {
        server.idle.push_back(std::move(connection));
    } catch (...) {
        --server.places_taken;
    }
    place_freed_.notify_all();
}

void RedisPool::give_up_place(const RedisAddress& address) noexcept {
    const std::lock_guard lock(mutex_);
    --servers_.at(address).places_taken;
    place_freed_.notify_all();
}

void RedisPool::drop_idle(const RedisAddress& address) {
    std::vector<std::unique_ptr<RedisConnection>> dropped;  // closed without the lock
    const std::lock_guard lock(mutex_);
    const auto found = servers_.find(address);
    if (found == servers_.end()) return;
    dropped = std::move(found->second.idle);
    found->second.idle.clear();
    found->second.places_taken -= static_cast<int>(dropped.size());
    place_freed_.notify_all();
}

}  // namespace whittle::inline v0
