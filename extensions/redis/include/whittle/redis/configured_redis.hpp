#pragma once

#include "whittle/base/error.hpp"
#include "whittle/config/config_json.hpp"
#include "whittle/redis/redis_storage.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace whittle::inline v0 {

/// What a configuration of type "redis" asks for: for `StorageOpeners::redis`. Asks `settings.lookup` for the password
/// of each new connection, so that it may change. Throws what `redis_storage` throws, Error(invalid_config) if the
/// environment has no password.
[[nodiscard]] inline std::shared_ptr<Storage> open_configured_redis(const StorageSettings& settings) {
    RedisStorageOptions options;
    options.addresses = settings.addresses;
    if (settings.topology == "sentinel") options.topology = RedisTopology::sentinel;
    if (settings.topology == "cluster") options.topology = RedisTopology::cluster;
    options.sentinel_primary = settings.sentinel_primary;
    if (settings.redis_durability == "one_replica") options.durability = RedisDurability::one_replica;
    if (settings.redis_durability == "all_replicas") options.durability = RedisDurability::all_replicas;
    options.key_prefix = settings.key_prefix;
    options.expire_after_seconds = settings.expire_after_seconds;
    options.credentials.user = settings.user;
    if (!settings.password_env.empty()) {
        options.credentials_now = [user = settings.user, name = settings.password_env, lookup = settings.lookup] {
            const std::optional<std::string> password = lookup ? lookup(name) : std::nullopt;
            if (!password || password->empty())
                throw Error(Errc::invalid_config, "open storage: the environment has no value \"" + name + "\"");
            return RedisCredentials{user, *password};
        };
    }
    return redis_storage(std::move(options));
}

}  // namespace whittle::inline v0
