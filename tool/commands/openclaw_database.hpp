#pragma once

#include "logs/logs.hpp"
#include "whittle/base/detail/function_ref.hpp"

#include <string>

namespace whittle::cli {

/// A session as OpenClaw keeps it in the database of an agent since August 2026.
struct OpenclawSession {
    std::string id{};
    std::string records{};  ///< a line each, as its files had them
    std::string parent{};   ///< id of the session that began it, where the database tells; else empty
};

/// Whether a database is an agent's of OpenClaw, by its tables, or, where the program was built without SQLite, by its
/// name.
[[nodiscard]] bool is_openclaw_database(const std::string& path);

/// Gives each session in the order of their ids. The database is opened for reading alone. Throws Error(not_offered)
/// where the program was built without SQLite, Error(parse_failed) for any other database. What is returned tells of
/// sessions that are larger than `limits`, and of records that could not be unpacked: they are left out.
logs::LogNotes each_openclaw_session(const std::string& path, const JsonLimits& limits,
                                     FunctionRef<void(OpenclawSession&&)> visit);

}  // namespace whittle::cli
