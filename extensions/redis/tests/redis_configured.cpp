// Redis as a configuration asks for it.
#include "whittle/redis/configured_redis.hpp"

#include "redis_tools.hpp"
#include "support/catch.hpp"

using namespace whittle;
using testing::RedisServer;

TEST_CASE("a configuration names a Redis server, and the environment its password", "[storage][redis]") {
    NEED_REDIS_SERVER();
    const RedisServer server({"--user", "agent", "on", ">tiger", "~*", "&*", "+@all"});
    std::string password = "tiger";
    const ConfigSource source{.lookup = [&](std::string_view name) -> std::optional<std::string> {
                                  return name == "REDIS_PASSWORD" ? std::optional(password) : std::nullopt;
                              },
                              .openers = {.redis = open_configured_redis}};
    const auto open_with = [&](const std::string& password_env) {
        const auto settings = read_chain_settings(
            R"({"storage": {"type": "redis", "user": "agent", "key_prefix": "c:", "addresses": [")" + server.address() +
                R"("], "password_env": ")" + password_env + R"("}})",
            source);
        return open_storage(settings.storage);
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
