#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace agent {

/// At most `max_bytes` from `offset` of a regular file; a link in the last place is not followed. Throws
/// whittle::Error.
struct FilePart {
    std::string text{};
    std::size_t file_bytes = 0;
};
[[nodiscard]] FilePart read_part(const std::filesystem::path& file, std::size_t offset, std::size_t max_bytes);

/// Replaces the file by one with that content and the same mode, in one step. Throws whittle::Error(storage_failed).
void write_whole(const std::filesystem::path& file, std::string_view content);

/// Regular files under `directory` (or it, if it is a file), sorted by path; links and what is named .git are left out.
/// Ends when `visit` returns false.
void walk_files(const std::filesystem::path& directory, const std::function<bool(const std::filesystem::path&)>& visit);

}  // namespace agent
