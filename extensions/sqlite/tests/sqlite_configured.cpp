// A store of SQLite as a configuration asks for it.
#include "whittle/sqlite/sqlite_store_type.hpp"

#include "support/catch.hpp"
#include "support/documented_keys.hpp"
#include "support/temp_dir.hpp"
#include "whittle/config/config_json.hpp"

#include <any>
#include <filesystem>

using namespace whittle;

namespace {

ConfigTypes with_sqlite() {
    ConfigTypes types;
    types.register_store(sqlite_store_type());
    return types;
}

}  // namespace

TEST_CASE("a configuration asks for SQLite with its keys", "[storage][sqlite]") {
    const testing::TempDir dir;
    const ChainSettings settings =
        read_chain_settings(R"({"storage": {"type": "sqlite", "root": "o.db", "durability": "full",
        "busy_timeout_ms": 7, "max_file_bytes": 8000000, "expire_after_seconds": 9}})",
                            {.base_dir = dir.path().string(), .types = with_sqlite()});
    CHECK(settings.storage_settings.type == "sqlite");
    CHECK(settings.storage_settings.place.path == dir / "o.db");
    const auto& store = std::any_cast<const SqliteStoreConfig&>(settings.storage_settings.config);
    CHECK(store.durability == Durability::full);
    CHECK(store.busy_timeout_ms == 7);
    CHECK(store.max_file_bytes == 8'000'000);
    CHECK(store.expire_after_seconds == 9);
    open_storage(settings.storage_settings)->put_if_absent("k", "content");
    CHECK(std::filesystem::is_regular_file(dir / "o.db"));
    CHECK_THROWS_WITH(read_chain_settings(R"({"storage": {"type": "sqlite"}})", {.types = with_sqlite()}),
                      Catch::Matchers::Contains("storage.root: missing, expected the path of a file"));
}

TEST_CASE("the page of SQLite has the row of every key", "[storage][sqlite]") {
    CHECK(testing::undocumented_keys(with_sqlite(), "extensions/sqlite/README.md") == "");
}
