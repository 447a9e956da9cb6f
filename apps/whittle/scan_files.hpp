#pragma once

#include <string>
#include <vector>

namespace whittle::cli {

/// A place that was looked at, and the files there that may hold sessions, by their names.
struct ScannedPlace {
    std::string agent{};  ///< whose place it is; empty: a path that was given
    std::string path{};
    bool is_there = false;
    std::vector<std::string> files{};  ///< sorted
};

/// Where agents keep their sessions, by the environment and the home folder. Links to folders are not followed.
[[nodiscard]] std::vector<ScannedPlace> places_of_agents();

/// A file as it is, or the files of a folder and the folders in it.
[[nodiscard]] ScannedPlace place_at(const std::string& path);

}  // namespace whittle::cli
