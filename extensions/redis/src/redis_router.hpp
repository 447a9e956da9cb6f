#pragma once

#include "redis_options.hpp"
#include "redis_reply.hpp"
#include "redis_tls.hpp"

#include <memory>
#include <string_view>

namespace whittle::inline v0 {

struct RedisTry;

/// Which server has a slot's objects. Thread-safe.
class RedisRouter {
public:
    virtual ~RedisRouter() = default;

    /// Asks others if it does not know. Throws RedisRetry if nobody knows now.
    [[nodiscard]] virtual RedisAddress primary_of(int slot, const RedisTry& next_try) = 0;

    /// It failed, or is no primary: whoever asks next gets a newer answer.
    virtual void suspect(const RedisAddress& address) = 0;

    /// A node said so.
    virtual void moved(int slot, const RedisAddress& to) = 0;
};

/// Both outlive the router. `tls` may be null.
[[nodiscard]] std::unique_ptr<RedisRouter> make_redis_router(const RedisStorageOptions& options,
                                                             const RedisTlsSettings* tls);
[[nodiscard]] std::unique_ptr<RedisRouter> make_sentinel_router(const RedisStorageOptions& options,
                                                                const RedisTlsSettings* tls);
[[nodiscard]] std::unique_ptr<RedisRouter> make_cluster_router(const RedisStorageOptions& options,
                                                               const RedisTlsSettings* tls);

}  // namespace whittle::inline v0
