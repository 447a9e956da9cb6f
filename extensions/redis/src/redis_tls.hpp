#pragma once

#include "redis_reply.hpp"
#include "whittle/redis/redis_storage.hpp"

#include <memory>

struct redisContext;

namespace whittle::inline v0 {

/// Whether this build has TLS.
[[nodiscard]] bool has_redis_tls() noexcept;

/// What all connections share. Thread-safe.
class RedisTlsSettings {
public:
    /// Throws Error(storage_failed) for files that cannot be used.
    explicit RedisTlsSettings(const RedisTls& options);
    ~RedisTlsSettings();
    RedisTlsSettings(const RedisTlsSettings&) = delete;
    RedisTlsSettings& operator=(const RedisTlsSettings&) = delete;

    /// Shakes hands over a connection that does not block; from then on, what hiredis writes to and reads from
    /// `context` is encrypted. Signals wait meanwhile. Each read and write of that may take as long as it is to `until`
    /// now, so that one who sends it piece by piece can take longer. Throws RedisRetry.
    void begin(redisContext& context, const RedisAddress& address, RedisDeadline until) const;

    /// What is not checked; empty: all is.
    [[nodiscard]] std::string unverified() const;

private:
    struct Context;
    RedisTls options_;
    std::unique_ptr<Context> context_;
};

}  // namespace whittle::inline v0
