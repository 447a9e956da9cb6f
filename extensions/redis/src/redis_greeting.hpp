#pragma once

#include "redis_connection.hpp"
#include "redis_doubts.hpp"
#include "whittle/redis/redis_storage.hpp"

namespace whittle::inline v0 {

/// Says who we are. Throws Error(storage_failed) if that is refused.
void log_in(RedisConnection& connection, const RedisCredentials& credentials);

/// What a new connection to a server with objects begins with: credentials, database, name; then it is asked whether it
/// is a primary (behind sentinels), and for what the options promise. Throws Error(storage_failed) for a server that
/// does not keep it; what it does not tell becomes a doubt.
void greet_redis(RedisConnection& connection, const RedisStorageOptions& options, RedisDoubts& doubts);

}  // namespace whittle::inline v0
