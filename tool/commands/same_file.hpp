#pragma once

#include <initializer_list>
#include <string>

namespace whittle::cli {

/// What a path is: behind its symbolic links; absolute, also where it is not there yet.
[[nodiscard]] std::string resolve_links(const std::string& path);
/// Whether two paths lead to one file, also through links. An empty path leads nowhere, /dev/null is never the same;
/// "-" is "-" only: what reads and what writes are compared apart.
[[nodiscard]] bool is_same_file(const std::string& a, const std::string& b);

/// A path, and the option that it came with.
struct NamedPath {
    std::string option{};
    std::string path{};
};

/// Throws `UsageError` if two of the paths lead to one file.
void require_different_files(std::initializer_list<NamedPath> paths);

}  // namespace whittle::cli
