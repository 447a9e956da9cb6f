#pragma once

#include "logs/logs.hpp"
#include "whittle/base/detail/function_ref.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::cli {

/// Whether a file that begins so is an SQLite database.
[[nodiscard]] bool is_database(std::string_view start) noexcept;

/// The tables of a database that is none of opencode's, at most twelve of 64 bytes; nullopt: it is one (its name says
/// so too), or what reads it says what is wrong: SQLite, or a build without it.
[[nodiscard]] std::optional<std::vector<std::string>> tables_of_other_program(const std::string& path);

/// Gives each session of opencode's database as the JSON that `opencode export` writes, or as rows of version 2, in the
/// order in which they began. `bills_only`: as `logs::LogOptions` has it. The database is opened for reading alone; one
/// that nobody has open is not even locked. Throws Error(not_offered) where the program was built without SQLite,
/// Error(parse_failed) for any other database. What is returned tells of the rows that are no JSON within `limits`, and
/// of the sessions that are larger: they are left out.
logs::LogNotes each_opencode_session(const std::string& path, const JsonLimits& limits, bool bills_only,
                                     FunctionRef<void(const nlohmann::ordered_json& document)> visit);

}  // namespace whittle::cli
