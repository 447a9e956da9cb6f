#pragma once

#include "redis_address.hpp"
#include "whittle/redis/redis_storage.hpp"

#include <vector>

namespace whittle::inline v0 {

/// Throws Error(invalid_config) that lists all problems, Error(not_offered) for TLS where hiredis has none.
void require_redis_options(const RedisStorageOptions& options);

/// The addresses of checked options.
[[nodiscard]] std::vector<RedisAddress> addresses_of(const RedisStorageOptions& options);

}  // namespace whittle::inline v0
