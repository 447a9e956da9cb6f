#pragma once

#include "sqlite_database.hpp"

namespace whittle::inline v0 {

[[nodiscard]] std::vector<std::string> verify_sqlite_file(SqliteDatabase& database);
void back_up_sqlite_file(SqliteDatabase& database, std::string_view path);
/// How many objects.
std::int64_t remove_expired_sqlite_objects(SqliteDatabase& database);
[[nodiscard]] SqliteUsage usage_of_sqlite_file(SqliteDatabase& database);

}  // namespace whittle::inline v0
