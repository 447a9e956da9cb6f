#include "agent/stores.hpp"
#include "agent/live_model.hpp"
#include "configuration/config_types.hpp"
#include "whittle/redaction/redacted_store_type.hpp"

#include "support/catch.hpp"
#include "support/temp_dir.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

using whittle::testing::TempDir;

namespace {

std::shared_ptr<whittle::Storage> open_default(const std::filesystem::path& folder, bool is_masked = false) {
    whittle::StorageSettings configured;
    configured.wrapper_configs["redaction"] = whittle::RedactedStoreConfig{.redaction = is_masked};
    configured.types = whittle::cli::config_types(agent::read_environment);
    return whittle::open_storage(agent::default_store(folder, std::move(configured)));
}

}  // namespace

TEST_CASE("originals are kept in one file of SQLite where it is built, and stay after the session", "[agent]") {
    const TempDir dir;
    const std::filesystem::path folder = dir / "store";
    open_default(folder)->put_if_absent("session/clear/c1", "text");
    CHECK(open_default(folder)->get("session/clear/c1") == "text");
#if WHITTLE_HAVE_SQLITE
    CHECK(std::filesystem::is_regular_file(folder / "objects.db"));
#else
    CHECK(std::filesystem::is_regular_file(folder / "session/clear/c1"));
#endif
    CHECK((std::filesystem::status(folder).permissions() & std::filesystem::perms::all) ==
          std::filesystem::perms::owner_all);
    CHECK_THROWS(open_default(folder / "absent/deeper"));
}

TEST_CASE("the default store is masked where the configuration wants that", "[agent]") {
    const TempDir dir;
    const auto store = open_default(dir / "store", true);
    store->put_if_absent("key", "password=hunter2hunter2");
    CHECK(store->get("key").value_or("hunter2").find("hunter2") == std::string::npos);
}

TEST_CASE("a configuration may name every store that is built in", "[agent]") {
    const whittle::ConfigTypes types = whittle::cli::config_types(agent::read_environment);
#if WHITTLE_HAVE_SQLITE
    const TempDir dir;
    const auto settings =
        whittle::read_chain_settings(R"({"storage": {"type": "sqlite", "root": "named.db", "redaction": true}})",
                                     {.base_dir = dir.path().string(), .types = types});
    whittle::open_storage(settings.storage_settings)->put_if_absent("key", "password=hunter2hunter2");
    CHECK(std::filesystem::is_regular_file(dir / "named.db"));
    const auto stored = whittle::open_storage(settings.storage_settings)->get("key");
    REQUIRE(stored);
    CHECK(stored->find("hunter2") == std::string::npos);
#endif
    CHECK(whittle::detail::rows_of(types).around.size() > 0);
}
