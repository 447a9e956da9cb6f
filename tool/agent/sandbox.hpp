#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace agent {

/// Which files the tools may touch: those of the workspace, but for those of a store that is inside it, where originals
/// of other conversations may lie. Paths are resolved first (links, "..") and then compared component by component. It
/// guards against mistakes of a model; `run_command` is a shell and can do what the user can do.
class Sandbox {
public:
    /// `store`: the folder or the file of SQLite where it is; empty: not among files. Throws whittle::Error(not_found)
    /// if one is absent, or the workspace no directory.
    Sandbox(const std::filesystem::path& workspace, const std::filesystem::path& store);

    [[nodiscard]] const std::filesystem::path& workspace() const noexcept { return workspace_; }

    /// The resolved path of something that exists in the workspace. A relative `path` is one of the workspace. Throws
    /// whittle::Error: not_found, or invalid_argument if it is outside, or in the store.
    [[nodiscard]] std::filesystem::path allowed(std::string_view path) const;
    /// As `allowed`, and a regular file.
    [[nodiscard]] std::filesystem::path allowed_file(std::string_view path) const;
    /// Whether a resolved path is in the store: what lists a folder leaves it out.
    [[nodiscard]] bool is_of_store(const std::filesystem::path& resolved) const;

    /// Relative to the workspace where that is shorter.
    [[nodiscard]] std::string shown(const std::filesystem::path& resolved) const;

private:
    std::filesystem::path workspace_;
    std::filesystem::path store_;
};

}  // namespace agent
