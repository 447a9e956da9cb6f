// Storages that other libraries have, as a configuration asks for them.
#include "whittle/config/config_json.hpp"

#include "support/catch.hpp"

using namespace whittle;

namespace {

StorageSettings storage_from(std::string_view given, ConfigSource source = {}) {
    source.name = "chain.json";
    return read_chain_settings(given, source).storage;
}

std::string refusal_of(std::string_view given) {
    try {
        (void)storage_from(given);
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

std::string opening_of(const StorageSettings& settings) {
    try {
        (void)open_storage(settings);
    } catch (const Error& error) {
        return std::string(error.errc() == Errc::not_offered ? "not offered: " : "another: ") + error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("a configuration asks for SQLite and Redis with the keys of each", "[config_json]") {
    const auto sqlite = storage_from(R"({"storage": {"type": "sqlite", "root": "o.db", "durability": "full",
        "busy_timeout_ms": 7, "max_file_bytes": 8, "expire_after_seconds": 9}})",
                                     {.base_dir = "/home/x"});
    CHECK(sqlite.type == StorageSettings::Type::sqlite);
    CHECK(sqlite.root == "/home/x/o.db");
    CHECK(sqlite.file.durability == Durability::full);
    CHECK(sqlite.busy_timeout_ms == 7);
    CHECK(sqlite.max_file_bytes == 8);
    CHECK(sqlite.expire_after_seconds == 9);
    const auto redis = storage_from(R"({"storage": {"durability": "one_replica", "type": "redis", "addresses": ["a:1"],
        "topology": "sentinel", "sentinel_primary": "p", "key_prefix": "k:", "user": "u", "password_env": "P",
        "expire_after_seconds": 9}})",
                                    {.base_dir = "/home/x"});
    CHECK(redis.type == StorageSettings::Type::redis);
    CHECK(redis.root.empty());
    CHECK(redis.redis_durability == "one_replica");
    CHECK(redis.addresses == std::vector<std::string>{"a:1"});
    CHECK(redis.topology == "sentinel");
    CHECK(redis.sentinel_primary == "p");
    CHECK(redis.key_prefix == "k:");
    CHECK(redis.user == "u");
    CHECK(redis.password_env == "P");
    CHECK(redis.expire_after_seconds == 9);
}

TEST_CASE("a key or a durability of another storage is refused with its place", "[config_json]") {
    const auto says = [](std::string_view given, std::string_view text) {
        const std::string refusal = refusal_of(given);
        INFO(refusal);
        CHECK(refusal.find(text) != std::string::npos);
    };
    says(R"({"storage": {"type": "sqlite"}})", "storage.root: missing, expected the path of a file");
    says(R"({"storage": {"type": "redis", "root": "x"}})",
         "chain.json:1:31: storage.root: only for storage of type \"file\" or \"sqlite\"");
    says(R"({"storage": {"type": "file", "root": "x", "addresses": []}})", "only for storage of type \"redis\"");
    says(R"({"storage": {"type": "memory", "expire_after_seconds": 1}})",
         "only for storage of type \"sqlite\" or \"redis\"");
    says(R"({"storage": {"type": "redis", "durability": "full"}})",
         "found \"full\", expected one of \"reply\", \"one_replica\", \"all_replicas\"");
    says(R"({"storage": {"type": "file", "root": "x", "durability": "reply"}})",
         "found \"reply\", expected one of \"none\", \"data\", \"full\"");
    says(R"({"storage": {"type": "redis", "topology": "ring"}})",
         "unknown topology \"ring\"; allowed: single, sentinel, cluster");
    says(R"({"storage": {"type": "s3"}})", "allowed: memory, file, sqlite, redis");
}

TEST_CASE("a storage of a library that the program does not link is refused by its name at opening", "[config_json]") {
    CHECK(opening_of(storage_from(R"({"storage": {"type": "sqlite", "root": "x"}})")) ==
          "not offered: open storage: the type \"sqlite\" needs whittle::sqlite: give ConfigSource::openers.sqlite "
          "open_configured_sqlite");
    CHECK(opening_of(storage_from(R"({"storage": {"type": "redis"}})")).find("whittle::redis") != std::string::npos);
    CHECK(opening_of(storage_from(R"({"storage": {"type": "memory", "redaction": true}})"))
              .find("redaction needs whittle::redaction") != std::string::npos);
    CHECK(opening_of(storage_from(R"({"storage": {"type": "memory", "sealing_key_env": "K"}})"))
              .find("sealing_key_env needs whittle::sealing") != std::string::npos);
    CHECK(opening_of(storage_from(R"({"storage": {"type": "memory"}})")).empty());
}

TEST_CASE("masks go outside and seals inside, and each opener gets what the file says", "[config_json]") {
    std::string order;
    ConfigSource source;
    source.lookup = [](std::string_view name) { return std::optional<std::string>("value of " + std::string(name)); };
    source.openers = {.redis =
                          [&](const StorageSettings& settings) {
                              order += "redis " + settings.addresses.at(0) + " " + *settings.lookup("P");
                              return memory_storage();
                          },
                      .sealing =
                          [&](std::shared_ptr<Storage> inner, const StorageSettings& settings) {
                              order += ", sealed by " + settings.sealing_key_env;
                              return inner;
                          },
                      .redaction =
                          [&](std::shared_ptr<Storage> inner, const StorageSettings&) {
                              order += ", masked";
                              return inner;
                          }};
    const char* const given = R"({"storage": {"type": "redis", "redaction": true, "sealing_key_env": "K"}})";
    CHECK(open_storage(storage_from(given, source)) != nullptr);
    CHECK(order == "redis 127.0.0.1:6379 value of P, sealed by K, masked");
}
