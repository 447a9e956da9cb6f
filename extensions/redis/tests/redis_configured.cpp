// Redis as a configuration asks for it.
#include "whittle/config/config_json.hpp"
#include "whittle/redis/redis_store_type.hpp"

#include "redis_tools.hpp"
#include "support/catch.hpp"
#include "support/documented_keys.hpp"

using namespace whittle;
using testing::RedisServer;

TEST_CASE("a configuration names a Redis server, and the environment its password", "[storage][redis]") {
    NEED_REDIS_SERVER();
    const RedisServer server({"--user", "agent", "on", ">tiger", "~*", "&*", "+@all"});
    std::string password = "tiger";
    ConfigSource source{.lookup = [&](std::string_view name) -> std::optional<std::string> {
        return name == "REDIS_PASSWORD" ? std::optional(password) : std::nullopt;
    }};
    source.types.register_store(redis_store_type());
    const auto open_with = [&](const std::string& password_env) {
        const auto settings = read_chain_settings(
            R"({"storage": {"type": "redis", "user": "agent", "key_prefix": "c:", "addresses": [")" + server.address() +
                R"("], "password_env": ")" + password_env + R"("}})",
            source);
        return open_storage(settings.storage_settings);
    };
    open_with("REDIS_PASSWORD")->put_if_absent("k", "content");
    CHECK(open_with("REDIS_PASSWORD")->get("k") == "content");
    CHECK(testing::error_of([&] { (void)open_with("NONE"); }) == "open storage: the environment has no value \"NONE\"");
    password = "another";
    CHECK(testing::errc_of([&] { (void)open_with("REDIS_PASSWORD"); }) == Errc::storage_failed);
}

TEST_CASE("the options of Redis can be made as a temporary in a generic lambda", "[storage][redis]") {
    const auto addresses = [](auto) { return RedisStorageOptions{}.addresses; };  // tests/loop/config_temporaries.cpp
    CHECK(addresses(0) == std::vector<std::string>{"127.0.0.1:6379"});
}

TEST_CASE("the page of Redis has the row of every key, and a configuration is read with them", "[storage][redis]") {
    ConfigTypes types;
    types.register_store(redis_store_type());
    CHECK(testing::undocumented_keys(types, "extensions/redis/README.md") == "");
    const ChainSettings settings = read_chain_settings(
        R"({"storage": {"durability": "one_replica", "type": "redis", "addresses": ["a:1"], "topology": "sentinel",
            "sentinel_primary": "p", "key_prefix": "k:", "user": "u", "password_env": "P", "expire_after_seconds": 9}})",
        {.types = types});
    CHECK(settings.storage_settings.place == StorePlace{.address = "a:1"});
    const auto& redis = std::any_cast<const RedisStoreConfig&>(settings.storage_settings.config);
    CHECK(redis.durability == RedisDurability::one_replica);
    CHECK(redis.addresses == std::vector<std::string>{"a:1"});
    CHECK(redis.topology == RedisTopology::sentinel);
    CHECK(redis.sentinel_primary == "p");
    CHECK(redis.key_prefix == "k:");
    CHECK(redis.user == "u");
    CHECK(redis.password_env == "P");
    CHECK(redis.expire_after_seconds == 9);
}
