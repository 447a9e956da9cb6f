#pragma once

#include "whittle/config/config_json.hpp"
#include "whittle/sqlite/sqlite_storage.hpp"

#include <memory>

namespace whittle::inline v0 {

/// What a configuration of type "sqlite" asks for: for `StorageOpeners::sqlite`. Throws what `sqlite_storage` throws.
[[nodiscard]] inline std::shared_ptr<Storage> open_configured_sqlite(const StorageSettings& settings) {
    SqliteStorageOptions options;
    options.durability = settings.file.durability;
    options.busy_timeout_ms = static_cast<decltype(options.busy_timeout_ms)>(settings.busy_timeout_ms);
    options.max_file_bytes = settings.max_file_bytes;
    options.expire_after_seconds = settings.expire_after_seconds;
    return sqlite_storage(settings.root, options);
}

}  // namespace whittle::inline v0
