#pragma once

#include "whittle/sqlite/sqlite_storage.hpp"

namespace whittle::inline v0 {

/// `sqlite_storage` over a registered VFS of SQLite, such as one of a test whose disk fails.
[[nodiscard]] std::shared_ptr<SqliteStorage> sqlite_storage_on(std::string_view vfs, std::string_view path,
                                                               const SqliteStorageOptions& options);

}  // namespace whittle::inline v0
