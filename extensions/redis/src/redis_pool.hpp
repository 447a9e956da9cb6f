#pragma once

#include "redis_greeting.hpp"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace whittle::inline v0 {

/// Connections to servers that have objects, so many to each at most. Thread-safe.
class RedisPool {
public:
    /// All three outlive the pool. `tls` may be null.
    RedisPool(const RedisStorageOptions& options, const RedisTlsSettings* tls,
              RedisUnverifiedSettings& unverified_settings);

    /// A connection for one try. It goes back when the lease goes, if it is sound.
    class Lease {
    public:
        Lease(RedisPool& pool, std::unique_ptr<RedisConnection> connection, bool is_new) noexcept;
        ~Lease();
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        [[nodiscard]] RedisConnection& operator*() const noexcept { return *connection_; }
        [[nodiscard]] RedisConnection* operator->() const noexcept { return connection_.get(); }
        /// Made for this lease: if it breaks, it was not its age.
        [[nodiscard]] bool is_new() const noexcept { return is_new_; }

    private:
        RedisPool& pool_;
        std::unique_ptr<RedisConnection> connection_;
        bool is_new_;
    };

    /// Waits for a place, and connects if need be. Throws RedisRetry, and what `greet_redis` throws.
    [[nodiscard]] Lease lease(const RedisAddress& address, const RedisTry& next_try);

    /// Idle connections there are as good as broken.
    void drop_idle(const RedisAddress& address);

private:
    struct Server {
        std::vector<std::unique_ptr<RedisConnection>> idle{};
        int places_taken = 0;  ///< by connections, idle ones too, and by who makes one
    };

    [[nodiscard]] std::unique_ptr<RedisConnection> take(const RedisAddress& address, const RedisTry& next_try);
    [[nodiscard]] std::unique_ptr<RedisConnection> connect(const RedisAddress& address, const RedisTry& next_try) const;
    void give_back(std::unique_ptr<RedisConnection> connection) noexcept;
    void give_up_place(const RedisAddress& address) noexcept;

    const RedisStorageOptions& options_;
    const RedisTlsSettings* tls_;
    RedisUnverifiedSettings& unverified_;
    std::mutex mutex_;
    std::condition_variable place_freed_;
    std::map<RedisAddress, Server> servers_;
};

}  // namespace whittle::inline v0
