#include "directory_tree.hpp"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace whittle::inline v0 {
namespace {

constexpr std::size_t deepest_path = 512;  // the longest key

struct CloseDirectory {
    void operator()(DIR* stream) const noexcept { ::closedir(stream); }
};
using DirectoryStream = std::unique_ptr<DIR, CloseDirectory>;

/// A stream with a position of its own: a duplicate would share that of `directory`.
DirectoryStream open_stream(const FileAttempt& attempt, int directory) {
    Fd fd(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd) attempt.fail("open directory", errno);
    DirectoryStream stream(::fdopendir(fd.get()));
    if (!stream) attempt.fail("read directory", errno);
    (void)fd.release();  // the stream owns it now
    return stream;
}

/// Fills what the name alone does not tell. False for what is no file or directory of ours, or is gone.
bool complete(int directory, Entry& entry) {
    struct stat status {};
    if (::fstatat(directory, entry.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return false;
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return false;
    if (status.st_uid != ::geteuid()) return false;
    entry.is_directory = S_ISDIR(status.st_mode);
    entry.bytes = status.st_size;
    entry.modified = status.st_mtime;
    return true;
}

/// As if the name of a directory ended with a slash.
bool sorts_before(const Entry& a, const Entry& b) noexcept {
    const std::size_t common = std::min(a.name.size(), b.name.size());
    const int order = a.name.compare(0, common, b.name, 0, common);
    if (order != 0) return order < 0;
    const auto next = [common](const Entry& entry) {
        if (entry.name.size() > common) return static_cast<unsigned char>(entry.name[common]);
        return static_cast<unsigned char>(entry.is_directory ? '/' : '\0');
    };
    return next(a) < next(b);
}

}  // namespace

std::vector<Entry> read_directory(const FileAttempt& attempt, int directory) {
    const DirectoryStream stream = open_stream(attempt, directory);
    std::vector<Entry> entries;
    for (;;) {
        errno = 0;
        const dirent* const found = ::readdir(stream.get());
        if (!found && errno != 0) attempt.fail("read directory", errno);
        if (!found) break;
        Entry entry{.name = found->d_name};
        if (entry.name != "." && entry.name != ".." && complete(directory, entry)) entries.push_back(std::move(entry));
    }
    std::sort(entries.begin(), entries.end(), sorts_before);
    return entries;
}

TreeWalk::TreeWalk(const PosixOps& ops, const FileAttempt& attempt, int root, std::string_view prefix)
    : ops_(ops), attempt_(attempt), prefix_(prefix) {
    descend(duplicate(attempt_, root), {});
}

void TreeWalk::descend(Fd fd, std::string path) {
    std::vector<Entry> entries = read_directory(attempt_, fd.get());
    levels_.push_back({.fd = std::move(fd), .path = std::move(path), .entries = std::move(entries)});
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
        path_ = level.path + entry.name;
        if (!entry.is_directory) {
            if (path_.starts_with(prefix_)) return &entry;
        } else if (!entry.name.starts_with('.') && may_hold(path_ + '/')) {
            Fd fd = open_directory(ops_, attempt_, level.fd.get(), entry.name, false);
            if (fd) descend(std::move(fd), path_ + '/');
        }
    }
    return nullptr;
}

}  // namespace whittle::inline v0
