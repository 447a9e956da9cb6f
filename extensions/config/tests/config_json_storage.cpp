// Storages that other libraries have, as a configuration asks for them.
#include "whittle/config/config_json.hpp"

#include "support/catch.hpp"

using namespace whittle;

namespace {

StorageSettings storage_from(std::string_view given, ConfigSource source = {}) {
    source.name = "chain.json";
    return read_chain_settings(given, source).storage_settings;
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

TEST_CASE("a key of another storage is refused with its place", "[config_json]") {
    const auto says = [](std::string_view given, std::string_view text) {
        const std::string refusal = refusal_of(given);
        INFO(refusal);
        CHECK(refusal.find(text) != std::string::npos);
    };
    says(R"({"storage": {"type": "file"}})", "storage.root: missing, expected the path of a directory");
    says(R"({"storage": {"type": "memory", "root": "x"}})",
         "chain.json:1:32: storage.root: only for storage of type \"file\"");
    says(R"({"storage": {"type": "file", "root": "x", "durability": "reply"}})",
         "unknown durability \"reply\"; allowed: none, data, full");
    says(R"({"storage": {"type": "memory", "redaction": true}})",
         "unknown key \"redaction\"; allowed: type, max_bytes");
    says(R"({"storage": {"type": "s3"}})", "unknown storage \"s3\"; allowed: memory, file");
    says(R"({"storage": {"max_bytes": 1}})", "storage.type: missing, expected \"memory\" or \"file\"");
}

namespace {

struct BucketConfig {
    std::string bucket{};
    std::string password_env{};
};

StoreType<BucketConfig> bucket_type(std::string& order) {
    return {.type = "bucket",
            .fields = {{.name = "bucket", .member = &BucketConfig::bucket, .meaning = "its name", .required = true},
                       {"password_env", &BucketConfig::password_env, "name of the value that holds the password"}},
            .open =
                [&order](const BucketConfig& config, const ConfigContext& context) {
                    order += "bucket " + config.bucket + " " + context.lookup(config.password_env).value_or("");
                    return memory_storage();
                },
            .place = [](const BucketConfig& config) { return StorePlace{.address = config.bucket}; }};
}

struct AroundConfig {
    bool on = false;
};

StoreWrapper<AroundConfig> around_type(std::string& order, const std::string& name, StoreLayer layer) {
    return {.type = name,
            .layer = layer,
            .fields = {{name, &AroundConfig::on, "whether it is there"}},
            .wrap = [&order, name](std::shared_ptr<Storage> inner, const AroundConfig& config, const ConfigContext&) {
                if (config.on) order += ", " + name;
                return inner;
            }};
}

}  // namespace

TEST_CASE("masks go outside and encryption inside, and each store gets what the file says", "[config_json]") {
    std::string order;
    ConfigSource source;
    source.lookup = [](std::string_view name) { return std::optional<std::string>("value of " + std::string(name)); };
    source.types.register_store_wrapper(around_type(order, "masked", StoreLayer::masks));
    source.types.register_store_wrapper(around_type(order, "encrypted", StoreLayer::encrypts));
    source.types.register_store(bucket_type(order));
    const StorageSettings settings = storage_from(
        R"({"storage": {"type": "bucket", "bucket": "b", "password_env": "P", "masked": true, "encrypted": true}})",
        source);
    CHECK(settings.place.address == "b");
    CHECK(open_storage(settings) != nullptr);
    CHECK(order == "bucket b value of P, encrypted, masked");
    order.clear();
    CHECK(open_storage(storage_from(R"({"storage": {"type": "memory", "masked": true, "encrypted": false}})", source)));
    CHECK(order == ", masked");
}

TEST_CASE("a store that was registered is documented, and one that was not is refused by its name", "[config_json]") {
    std::string order;
    ConfigTypes types;
    types.register_store(bucket_type(order));
    bool is_documented = false;
    for (const ConfigKey& key : config_keys(types))
        is_documented = is_documented || (key.path == "storage.bucket" && key.only_for_type == "bucket");
    CHECK(is_documented);
    CHECK(config_schema(types).find("\"bucket\"") != std::string::npos);
    StorageSettings settings = storage_from(R"({"storage": {"type": "bucket", "bucket": "b"}})", {.types = types});
    settings.types = {};
    CHECK(opening_of(settings) ==
          "not offered: make store: type \"bucket\" is not registered: `ConfigSource::types` has to have it");
    CHECK(opening_of(storage_from(R"({"storage": {"type": "memory"}})")).empty());
}
