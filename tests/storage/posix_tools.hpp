// What the tests of the file storage share that need POSIX.
#pragma once

#include "file_tools.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <exception>
#include <map>

namespace whittle::testing {

constexpr uid_t nobody = 65'534;

/// Whether files in `directory` can be given to another user. Root cannot in a container without CAP_CHOWN, nor on some
/// network file systems.
inline bool can_give_away(const std::filesystem::path& directory) {
    const std::filesystem::path probe = directory / "given-away";
    overwrite(probe, "");
    const bool given = ::geteuid() != nobody && ::chown(probe.c_str(), nobody, nobody) == 0;
    std::filesystem::remove(probe);
    return given;
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

/// What in_child tells when the machine cannot do what a test needs.
inline std::string skipped(const std::string& what) { return "skipped: " + what + ": " + std::strerror(errno); }

inline void check_or_skip(const std::string& text, const std::string& expected) {
    if (text.starts_with("skipped: ")) SKIP_WITH_MESSAGE(text);
    CHECK(text == expected);
}

/// A store that holds `c/k` with "content", where nothing can be written: the error of a put.
inline std::string use_read_only_store(Storage& storage) {
    if (storage.get("c/k") != "content") return "not readable";
    if (keys_below(storage, "") != std::vector<std::string>{"c/k"}) return "not listed";
    storage.put_if_absent("c/k", "content");  // nothing to write
    if (errc_of([&] { storage.put_if_absent("c/k", "other"); }) != Errc::already_exists) return "not write-once";
    if (errc_of([&] { write_streaming(storage, "c/stream", "x"); }) != Errc::storage_failed) return "streamed";
    if (errc_of([&] { (void)storage.remove("c/k"); }) != Errc::storage_failed) return "removed";
    return error_of([&] { storage.put_if_absent("c/new", "x"); });
}

}  // namespace whittle::testing
