// The recorded sessions that tests may read.
#pragma once

#include "soak.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace whittle::testing {

/// The files of recorded trajectories, by name; none where the data folder is absent. Large ones only in a soak.
inline std::vector<std::filesystem::path> recorded_files() {
    std::vector<std::filesystem::path> files;
    const std::filesystem::path dir = std::filesystem::path(WHITTLE_DATA_DIR) / "trajectories";
    if (!std::filesystem::is_directory(dir)) return files;
    constexpr std::uintmax_t large = 1'500'000;  // bytes
    for (const auto& entry : std::filesystem::directory_iterator(dir)) {
        if (entry.path().extension() == ".jsonl" && (is_soak() || entry.file_size() <= large))
            files.push_back(entry.path());
    }
    std::ranges::sort(files);
    return files;
}

}  // namespace whittle::testing
