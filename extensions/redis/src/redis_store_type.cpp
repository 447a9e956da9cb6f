#include "whittle/redis/redis_store_type.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

namespace whittle::inline v0 {

namespace {

using Config = RedisStoreConfig;

ConfigFields<Config> redis_fields() {
    return {
        {"addresses", &Config::addresses, "`host:port`, `[v6]:port` or `unix:/path`"},
        {.name = "topology",
         .member = word_member<Config>(&Config::topology,
                                       {RedisTopology::single, RedisTopology::sentinel, RedisTopology::cluster}),
         .meaning = "what the addresses are: `single`, `sentinel`, `cluster`",
         .words = {"single", "sentinel", "cluster"}},
        {.name = "sentinel_primary",
         .member = &Config::sentinel_primary,
         .meaning = "the name that sentinels know the primary by",
         .documented_default = "none"},
        {.name = "durability",
         .member = word_member<Config>(&Config::durability, {RedisDurability::reply, RedisDurability::one_replica,
                                                             RedisDurability::all_replicas}),
         .meaning = "who has confirmed a finished write: the primary (`reply`), also `one_replica`, or `all_replicas`",
         .words = {"reply", "one_replica", "all_replicas"}},
        {"key_prefix", &Config::key_prefix, "prefix of every key in Redis: stores with different ones share nothing"},
        {"expire_after_seconds", &Config::expire_after_seconds,
         "seconds after which a stored object is absent; 0: never"},
        {.name = "user",
         .member = &Config::user,
         .meaning = "user name for AUTH",
         .documented_default = "the default one"},
        {.name = "password_env",
         .member = &Config::password_env,
         .meaning = "the environment variable that holds the password; no file holds it",
         .documented_default = "none"},
    };
}

std::shared_ptr<Storage> open_redis(const Config& config, const ConfigContext& context) {
    RedisStorageOptions options = config;
    options.credentials.user = config.user;
    if (!config.password_env.empty()) {
        options.credentials_provider = [user = config.user, name = config.password_env, lookup = context.lookup] {
            const std::optional<std::string> password = lookup ? lookup(name) : std::nullopt;
            if (!password || password->empty())
                throw Error(Errc::invalid_config,
                            fmt::format("open storage: the environment has no value \"{}\"", name));
            return RedisCredentials{user, *password};
        };
    }
    return redis_storage(std::move(options));
}

}  // namespace

StoreType<RedisStoreConfig> redis_store_type() {
    return {.type = "redis", .fields = redis_fields(), .open = open_redis, .place = [](const Config& config) {
                return StorePlace{.address = fmt::format("{}", fmt::join(config.addresses, ", "))};
            }};
}

}  // namespace whittle::inline v0
