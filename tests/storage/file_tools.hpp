// What the tests of the file storage share.
#pragma once

#include "../../src/storage/file_system.hpp"

#include "support/storage_tools.hpp"
#include "support/suite_sizes.hpp"
#include "support/temp_dir.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>

namespace whittle::testing {

constexpr uid_t nobody = 65'534;

inline std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline void overwrite(const std::filesystem::path& path, std::string_view bytes) {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out << bytes;
}

/// Whether files in `directory` can be given to another user. Root cannot in a container without CAP_CHOWN, nor on some
/// network file systems.
inline bool can_give_away(const std::filesystem::path& directory) {
    const std::filesystem::path probe = directory / "given-away";
    overwrite(probe, "");
    const bool given = ::geteuid() != nobody && ::chown(probe.c_str(), nobody, nobody) == 0;
    std::filesystem::remove(probe);
    return given;
}

template <typename Action>
std::string error_of(Action&& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The real calls, but nothing waits for the disk.
inline FileOps ops_without_sync() {
    FileOps ops;
    ops.sync_data = [](NativeFile) { return 0; };
    ops.sync_names = ops.sync_data;
    return ops;
}

/// A system without openat2 (ENOSYS), or one that forbids it (EPERM, as seccomp does); 0 for the real call.
inline FileOps ops_without_openat2(int error) {
    FileOps ops = ops_without_sync();
    if (error != 0) {
        ops.open_beneath = [error](NativeFile, const char*) {
            errno = error;
            return -1;
        };
    }
    return ops;
}

inline int temporary_files_below(const std::filesystem::path& root) {
    int found = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
        found += entry.path().filename().string().starts_with(".whittle-tmp-") ? 1 : 0;
    return found;
}

inline void write_streaming(Storage& storage, const std::string& key, const std::string& content) {
    const auto writer = storage.open_writer();
    writer->write(content.substr(0, content.size() / 2));
    writer->write(content.substr(content.size() / 2));
    writer->commit(key);
}

/// Every name below `root` with type, mode, owner, length and content, but not what is below `left_out`.
inline std::map<std::string, std::string> everything_below(const std::filesystem::path& root,
                                                           const std::filesystem::path& left_out = {}) {
    namespace fs = std::filesystem;
    std::map<std::string, std::string> found;
    for (auto at = fs::recursive_directory_iterator(root); at != fs::recursive_directory_iterator(); ++at) {
        struct stat status {};
        if (::lstat(at->path().c_str(), &status) != 0) continue;
        std::string& text = found[at->path().string()];
        text = std::to_string(status.st_mode) + " " + std::to_string(status.st_uid);
        if (S_ISLNK(status.st_mode)) text += " " + fs::read_symlink(at->path()).string();
        if (S_ISREG(status.st_mode)) text += " " + bytes_of(at->path());
        if (at->path() == left_out) at.disable_recursion_pending();
    }
    return found;
}

/// Runs `work` in a process of its own: the text that it returned, or how it ended.
inline std::string in_child(const std::function<std::string()>& work) {
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) return "no pipe";
    const pid_t child = ::fork();
    if (child < 0) return "no child";
    if (child == 0) {
        std::string text;
        try {
            text = work();
        } catch (const std::exception& error) {
            text = std::string("threw: ") + error.what();
        }
        const ssize_t wrote = ::write(pipe[1], text.data(), text.size());
        ::_exit(wrote == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    ::close(pipe[1]);
    std::string text;
    std::array<char, 512> block{};
    for (ssize_t got = 0; (got = ::read(pipe[0], block.data(), block.size())) > 0;)
        text.append(block.data(), static_cast<std::size_t>(got));
    ::close(pipe[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    return status == 0 ? text : text + " (ended with status " + std::to_string(status) + ")";
}

}  // namespace whittle::testing
