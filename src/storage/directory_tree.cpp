#include "directory_tree.hpp"

#include <algorithm>
#include <cerrno>

namespace whittle::inline v0 {
namespace {

constexpr std::size_t deepest_path = 512;  // the longest key

/// As if the name of a directory ended with a slash.
bool sorts_before(const Entry& a, const Entry& b) noexcept {
    const std::size_t common = std::min(a.component.size(), b.component.size());
    const int order = a.component.compare(0, common, b.component, 0, common);
    if (order != 0) return order < 0;
    const auto next = [common](const Entry& entry) {
        if (entry.component.size() > common) return static_cast<unsigned char>(entry.component[common]);
        return static_cast<unsigned char>(entry.is_directory ? '/' : '\0');
    };
    return next(a) < next(b);
}

}  // namespace

std::vector<Entry> read_directory(const FileAttempt& attempt, NativeFile directory) {
    std::vector<DirectoryEntry> found;
    if (FileSystem::list(directory, found) != 0) attempt.fail("read directory", errno);
    std::vector<Entry> entries;
    for (DirectoryEntry& entry : found) {
        const FileStatus& status = entry.status;
        if (!status.is_ours || (!status.is_regular && !status.is_directory)) continue;
        std::string component = FileSystem::component_of_name(entry.name);
        if (component.empty()) continue;
        entries.push_back({.component = std::move(component),
                           .name = std::move(entry.name),
                           .is_directory = status.is_directory,
                           .bytes = status.bytes,
                           .modified = status.modified});
    }
    std::sort(entries.begin(), entries.end(), sorts_before);
    return entries;
}

TreeWalk::TreeWalk(const FileOps& ops, const FileAttempt& attempt, NativeFile root, std::string_view prefix)
    : ops_(ops), attempt_(attempt), prefix_(prefix) {
    descend(duplicate(attempt_, root), {});
}

void TreeWalk::descend(OpenFile directory, std::string path) {
    std::vector<Entry> entries = read_directory(attempt_, directory.get());
    levels_.push_back({.directory = std::move(directory), .path = std::move(path), .entries = std::move(entries)});
}

bool TreeWalk::may_hold(const std::string& path) const {
    return path.size() <= deepest_path && (std::string_view(path).starts_with(prefix_) || prefix_.starts_with(path));
}

const Entry* TreeWalk::next() {
    while (!levels_.empty()) {
        Level& level = levels_.back();
        if (level.at == level.entries.size()) {
            levels_.pop_back();
            continue;
        }
        const Entry& entry = level.entries[level.at++];
        path_ = level.path + entry.component;
        if (!entry.is_directory) {
            if (path_.starts_with(prefix_)) return &entry;
        } else if (!entry.component.starts_with('.') && may_hold(path_ + '/')) {
            OpenFile directory = open_directory(ops_, attempt_, level.directory.get(), entry.name, false);
            if (directory) descend(std::move(directory), path_ + '/');
        }
    }
    return nullptr;
}

}  // namespace whittle::inline v0
