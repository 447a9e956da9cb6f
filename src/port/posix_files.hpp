#pragma once

#include "posix_ops.hpp"
#include "whittle/base/hash.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0 {

/// What is being done, for error texts: `put "key": ...`.
struct Attempt {
    std::string_view verb{};
    std::string_view key{};

    /// Throws Error(storage_failed).
    [[noreturn]] void fail(std::string_view reason) const;
    /// The same with the system's text for `error`, an errno.
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
[[nodiscard]] Fd duplicate(const Attempt& attempt, int fd);

/// Opens the directory `name` in `parent`, never through a symbolic link. An empty Fd if there is none; throws if what
/// is there is no directory of ours. A regular file counts as nothing there unless `must_exist`.
[[nodiscard]] Fd open_directory(const PosixOps& ops, const Attempt& attempt, int parent, const std::string& name,
                                bool must_exist);

/// The same; creates it (mode 0700) if absent.
[[nodiscard]] Fd open_or_create_directory(const PosixOps& ops, const Attempt& attempt, int parent,
                                          const std::string& name);

/// Opens the regular file `name` for reading. An empty Fd if there is none; throws if it is anything else or not ours.
[[nodiscard]] Fd open_object(const PosixOps& ops, const Attempt& attempt, int parent, const std::string& name);

[[nodiscard]] std::int64_t length_of(const Attempt& attempt, int fd);

/// Bytes from `offset`; fewer than `bytes` only at the end of the file.
[[nodiscard]] std::string read_at(const PosixOps& ops, const Attempt& attempt, int fd, std::int64_t offset,
                                  std::int64_t bytes);

/// SHA-256 of the whole file, with bounded memory.
[[nodiscard]] std::string hash_of_file(const PosixOps& ops, const Attempt& attempt, int fd);

void sync_directory(const PosixOps& ops, const Attempt& attempt, int directory);

/// A new file of mode 0600 in `directory`, whose descriptor must outlive it. Unlinked in the end, whatever happens;
/// locked (flock) while it is being written, so that a sweep sees that its writer lives.
class TemporaryFile {
public:
    TemporaryFile(const PosixOps& ops, const Attempt& attempt, int directory);
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    void write(const Attempt& attempt, std::string_view bytes);
    /// Syncs as `durability` asks and closes. A failure is final: a second fsync would report a success that is none.
    void finish(const Attempt& attempt, Durability durability);

    [[nodiscard]] int directory() const noexcept { return directory_; }
    [[nodiscard]] const char* name() const noexcept { return name_.c_str(); }
    /// It got another name by rename: nothing is left to unlink.
    void renamed() noexcept { directory_ = -1; }

private:
    const PosixOps& ops_;
    int directory_;
    std::string name_;
    Fd fd_;
};

/// Removes temporary files below `root` whose writer is dead or that are older than `max_age_seconds`. Errors are
/// ignored: litter costs space, nothing else.
void sweep_temporary_files(int root, int max_age_seconds);

inline constexpr std::string_view temporary_prefix = ".whittle-tmp-";

}  // namespace whittle::inline v0
