#include "same_file.hpp"

#include "commands.hpp"
#include "system.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace whittle::cli {

std::string resolve_links(const std::string& path) {
    std::error_code error;
    const auto whole = std::filesystem::absolute(system::path_of(path), error);
    if (error) return path;
    const auto resolved = std::filesystem::weakly_canonical(whole, error);
    return error ? path : system::text_of(resolved);
}

bool is_same_file(const std::string& a, const std::string& b) {
    if (a.empty() || b.empty()) return false;
    if (a == "-" || b == "-") return a == b;
    const std::string behind_a = resolve_links(a);
    if (behind_a == "/dev/null") return false;
    std::error_code ignored;
    return behind_a == resolve_links(b) || std::filesystem::equivalent(system::path_of(a), system::path_of(b), ignored);
}

void require_different_files(std::initializer_list<NamedPath> paths) {
    for (const NamedPath* a = paths.begin(); a != paths.end(); ++a) {
        for (const NamedPath* b = a + 1; b != paths.end(); ++b) {
            if (is_same_file(a->path, b->path))
                throw UsageError{
                    fmt::format("{} {} and {} {} are the same file", a->option, a->path, b->option, b->path)};
        }
    }
}

}  // namespace whittle::cli
