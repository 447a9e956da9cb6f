#pragma once

#include "whittle/redis/redis_storage.hpp"
#include "whittle/storage/store_type.hpp"

#include <string>

namespace whittle::inline v0 {

/// Redis as a configuration names it.
struct RedisStoreConfig : RedisStorageOptions {
    std::string user{};  ///< user name for AUTH. Empty: the default user
    /// The environment variable that holds the password; no file holds it. Empty: none.
    std::string password_env{};
};

/// The type "redis", for `ConfigTypes::register_store`. The store asks for the password at each new connection, so that
/// it may change. Opening throws what `redis_storage` throws, Error(invalid_config) if the environment has no password.
[[nodiscard]] StoreType<RedisStoreConfig> redis_store_type();

}  // namespace whittle::inline v0
