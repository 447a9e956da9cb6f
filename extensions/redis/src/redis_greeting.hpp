#pragma once

#include "redis_connection.hpp"
#include "redis_unverified.hpp"
#include "whittle/redis/redis_storage.hpp"

namespace whittle::inline v0 {

/// Says who we are. Throws Error(storage_failed) if that is refused.
void log_in(RedisConnection& connection, const RedisCredentials& credentials);

/// What a new connection to a server with objects begins with: credentials, database, name; then it is asked whether it
/// is a primary (behind sentinels), and for what the options promise. Throws Error(storage_failed) for a server that
/// does not keep it; what it does not report is unverified.
void greet_redis(RedisConnection& connection, const RedisStorageOptions& options,
                 RedisUnverifiedSettings& unverified_settings);

}  // namespace whittle::inline v0
