// What the suite of checks is run with on the stores of whittle, and where.
#pragma once

#include "support/soak.hpp"
#include "support/storage_tools.hpp"
#include "support/temp_dir.hpp"

namespace whittle::testing {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

/// A file system in memory where there is one: many files are made and removed in little time.
inline std::filesystem::path in_memory() {
    const std::filesystem::path shared = "/dev/shm";
    std::error_code none;
    const auto permissions = std::filesystem::status(shared, none).permissions();
    const bool is_for_all = (permissions & std::filesystem::perms::others_all) == std::filesystem::perms::others_all;
    return !none && is_for_all ? shared : std::filesystem::temp_directory_path();
}

/// Where a store lies that the suite makes: on the disk if it is too large for memory.
inline std::filesystem::path place_of_suites() {
    return is_soak_of_sizes() ? std::filesystem::temp_directory_path() : in_memory();
}

/// Little in a usual test, more in a soak; in one of sizes 100,000 objects, and one of `most_mebibytes`.
inline StorageConformanceOptions suite_sizes(std::int64_t most_mebibytes = 1'024) {
    if (is_soak_of_sizes()) return {.large_bytes = most_mebibytes * mebibyte, .objects = 100'000};
    if (is_soak()) return {.large_bytes = 64 * mebibyte, .objects = 10'000};
    return {.large_bytes = 3'000'001, .objects = 150, .rounds = 5};
}

/// Each new store at a path of its own, in a directory that goes with it.
inline NewStorage each_in_a_folder(std::function<std::shared_ptr<Storage>(const std::string& path)> open,
                                   const std::filesystem::path& place = place_of_suites()) {
    return [open = std::move(open), place] {
        return [open, dir = std::make_shared<TempDir>(place)] { return open(*dir / "store"); };
    };
}

}  // namespace whittle::testing
