// Stores as a configuration asks for them: masked, encrypted, in SQLite.
#include "whittle/config/config_json.hpp"
#include "whittle/redaction/redacted_store_type.hpp"

#include "storage/file_tools.hpp"
#include "support/catch.hpp"
#include "support/documented_keys.hpp"
#if WHITTLE_HAVE_ENCRYPTION
#    include "whittle/encryption/encrypted_store_type.hpp"
#endif
#if WHITTLE_HAVE_SQLITE
#    include "whittle/sqlite/sqlite_store_type.hpp"
#endif

using namespace whittle;
using testing::TempDir;

TEST_CASE("a configuration masks what is stored", "[redaction]") {
    const TempDir dir;
    ConfigSource source{.base_dir = dir.path().string()};
    source.types.register_store_wrapper(redacted_store_type());
    const auto settings =
        read_chain_settings(R"({"storage": {"type": "file", "root": "store", "redaction": true}})", source);
    open_storage(settings.storage_settings)->put_if_absent("k", "password: swordfish-1");
    CHECK(testing::bytes_of(dir / "store/k").starts_with("password: ***"));
}

#if WHITTLE_HAVE_ENCRYPTION && WHITTLE_HAVE_SQLITE
TEST_CASE("a configuration keeps masked and encrypted objects in a file of SQLite, and rotates their key",
          "[redaction][encryption]") {
    const TempDir dir;
    std::string keys = "old " + std::string(64, 'a') + "\n";
    ConfigSource source{.base_dir = dir.path().string(),
                        .lookup = [&](std::string_view name) -> std::optional<std::string> {
                            return name == "KEYS" ? std::optional(keys) : std::nullopt;
                        }};
    source.types.register_store(sqlite_store_type());
    source.types.register_store_wrapper(redacted_store_type());
    source.types.register_store_wrapper(encrypted_store_type());
    const auto open_with = [&](const std::string& key_env) {
        const auto settings = read_chain_settings(
            R"({"storage": {"type": "sqlite", "root": "o.db", "redaction": true, "encryption_key_env": ")" + key_env +
                R"("}})",
            source);
        return open_storage(settings.storage_settings);
    };
    open_with("KEYS")->put_if_absent("a", "password: swordfish-1");
    keys += "new " + std::string(64, 'b');
    open_with("KEYS")->put_if_absent("b", "of a new key");
    CHECK(open_with("KEYS")->get("a") == "password: ***");
    CHECK(open_with("KEYS")->get("b") == "of a new key");
    const auto bare = sqlite_storage(dir / "o.db");
    CHECK(bare->get("a")->substr(8, 3) == "old");
    CHECK(bare->get("b")->substr(8, 3) == "new");
    CHECK(testing::error_of([&] { (void)open_with("NONE"); }) == "open storage: the environment has no value \"NONE\"");
    keys = "new nonsense";
    CHECK(testing::error_of([&] { (void)open_with("KEYS"); }) ==
          "KEYS:1: not an id, a space and 64 hexadecimal digits");
}
#endif

TEST_CASE("the page of redaction has the row of its key", "[redaction]") {
    ConfigTypes types;
    types.register_store_wrapper(redacted_store_type());
    CHECK(testing::undocumented_keys(types, "extensions/redaction/README.md") == "");
}
