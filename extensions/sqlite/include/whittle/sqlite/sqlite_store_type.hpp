#pragma once

#include "whittle/sqlite/sqlite_storage.hpp"
#include "whittle/storage/store_type.hpp"

#include <string>

namespace whittle::inline v0 {

/// A file of SQLite as a configuration names it.
struct SqliteStoreConfig : SqliteStorageOptions {
    std::string root{};      ///< the file; a relative one is relative to the configuration file
    std::string root_env{};  ///< instead of `root`: the environment variable that holds it
};

/// The type "sqlite", for `ConfigTypes::register_store`. Opening throws what `sqlite_storage` throws.
[[nodiscard]] StoreType<SqliteStoreConfig> sqlite_store_type();

}  // namespace whittle::inline v0
