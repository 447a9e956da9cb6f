#pragma once

#include "posix_ops.hpp"
#include "whittle/base/hash.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0 {

/// What is being done, for error texts: `put "key": ...`.
struct FileAttempt {
    std::string_view verb{};
    std::string_view key{};

    /// Throws Error(storage_failed).
    [[noreturn]] void fail(std::string_view reason) const;
    /// Throws Error(storage_failed) with the system's text for `error`, an errno.
    [[noreturn]] void fail(std::string_view step, int error) const;
};

/// Owns a file descriptor. Its destructor ignores errors of `close`: whoever wrote calls `close_checked`.
class Fd {
public:
    explicit Fd(int fd = -1) noexcept : fd_(fd) {}
    Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd& operator=(Fd&& other) noexcept;
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd();

    [[nodiscard]] int get() const noexcept { return fd_; }
    [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }
    [[nodiscard]] explicit operator bool() const noexcept { return fd_ >= 0; }

private:
    int fd_;
};

/// "a symbolic link", "a FIFO", "a directory", ...
[[nodiscard]] std::string_view kind_of(mode_t mode) noexcept;

/// Why the directory `status` must not be used (other owner, writable by others), or empty.
[[nodiscard]] std::string_view distrust_of(const struct stat& status) noexcept;

/// Duplicates a descriptor for a caller that wants to own one.
[[nodiscard]] Fd duplicate(const FileAttempt& attempt, int fd);

/// How directories are opened for use; none of these follows a symbolic link in the last component.
inline constexpr int directory_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

/// `fstat`.
[[nodiscard]] struct stat status_of(const FileAttempt& attempt, int fd);

/// Opens the directory `name` in `parent`, never through a symbolic link. An empty Fd if there is none; throws if what
/// is there is no directory of ours. A regular file counts as nothing there unless `must_exist`.
[[nodiscard]] Fd open_directory(const PosixOps& ops, const FileAttempt& attempt, int parent, const std::string& name,
                                bool must_exist);

/// Opens the directory `name` in `parent`, never through a symbolic link; creates it (mode 0700) if absent.
[[nodiscard]] Fd open_or_create_directory(const PosixOps& ops, const FileAttempt& attempt, int parent,
                                          const std::string& name);

/// Opens the regular file `name` for reading. An empty Fd if there is none; throws if it is anything else or not ours.
[[nodiscard]] Fd open_object(const PosixOps& ops, const FileAttempt& attempt, int parent, const std::string& name);

[[nodiscard]] std::int64_t length_of(const FileAttempt& attempt, int fd);

/// Bytes from `offset`; fewer than `bytes` only at the end of the file.
[[nodiscard]] std::string read_at(const PosixOps& ops, const FileAttempt& attempt, int fd, std::int64_t offset,
                                  std::int64_t bytes);

/// SHA-256 of the whole file, with bounded memory.
[[nodiscard]] std::string hash_of_file(const PosixOps& ops, const FileAttempt& attempt, int fd);

/// Whether both descriptors are of one file.
[[nodiscard]] bool is_same_file(const FileAttempt& attempt, int a, int b);

}  // namespace whittle::inline v0
