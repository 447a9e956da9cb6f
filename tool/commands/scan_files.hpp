#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace whittle::cli {

/// A place that was looked at, and the files there that may hold sessions, by their names.
struct LogLocation {
    std::string agent{};  ///< whose place it is; empty: a path that was given
    std::string path{};
    bool exists = false;
    std::vector<std::string> files{};     ///< sorted
    std::vector<std::string> problems{};  ///< folders that could not be read, each with the reason
    std::int64_t links = 0;               ///< that were found in it and not followed
};

/// Where agents keep their sessions, by the environment and the home folder. Links in them are not followed.
[[nodiscard]] std::vector<LogLocation> agent_log_locations();

/// A file as it is, or the files of a folder and the folders in it; a link in it is neither.
[[nodiscard]] LogLocation location_at(const std::string& path);

}  // namespace whittle::cli
