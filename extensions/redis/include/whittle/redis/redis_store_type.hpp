#pragma once

#include "whittle/redis/redis_storage.hpp"
#include "whittle/storage/store_type.hpp"

#include <string>

namespace whittle::inline v0 {

/// Redis as a configuration names it.
struct RedisStoreConfig : RedisStorageOptions {
    std::string user{};          ///< empty: the default user
    std::string password_env{};  ///< name of the environment value that holds the password; empty: none
};

/// The type "redis", for `ConfigTypes::register_store`. The store asks for the password at each new connection, so that
/// it may change. Opening throws what `redis_storage` throws, Error(invalid_config) if the environment has no password.
[[nodiscard]] StoreType<RedisStoreConfig> redis_store_type();

}  // namespace whittle::inline v0
