#pragma once

#include "files.hpp"

#include <string>
#include <vector>

namespace whittle::inline v0 {

/// A file or directory of ours, by the component of a key that its name stands for.
struct Entry {
    std::string component{};
    std::string name{};
    bool is_directory = false;
    std::int64_t bytes = 0;
    std::int64_t modified = 0;  ///< seconds since 1970
};

/// Regular files and directories of ours in `directory`, in byte order of keys (a directory as
/// if its name ended with a slash). What vanishes meanwhile is left out.
[[nodiscard]] std::vector<Entry> read_directory(const FileAttempt& attempt, NativeFile directory);

/// A walk through a tree, depth first, in byte order of keys, without recursion. Holds the names of one directory a
/// level.
class TreeWalk {
public:
    /// `prefix`: only what can lie below it is visited. Directories that start with a dot are left out.
    TreeWalk(const FileOps& ops, const FileAttempt& attempt, NativeFile root, std::string_view prefix);

    /// The next file, or null at the end. `directory` and `path` tell where it is.
    [[nodiscard]] const Entry* next();
    [[nodiscard]] NativeFile directory() const noexcept { return levels_.back().directory.get(); }
    /// From the root, with '/' between the components.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    struct Level {
        OpenFile directory;
        std::string path;  ///< ends with '/', or is empty
        std::vector<Entry> entries;
        std::size_t at = 0;
    };

    void descend(OpenFile directory, std::string path);
    [[nodiscard]] bool may_hold(const std::string& path) const;

    const FileOps& ops_;
    FileAttempt attempt_;
    std::string prefix_;
    std::vector<Level> levels_;
    std::string path_;
};

}  // namespace whittle::inline v0
