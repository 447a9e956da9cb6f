#include "posix_files.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace whittle::inline v0 {
namespace {

constexpr std::int64_t read_block = 256 * 1024;

/// What stands under `name` where a directory or an object of ours should be.
std::string what_is_at(int parent, const std::string& name) {
    struct stat status {};
    if (::fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return "nothing";
    return std::string(kind_of(status.st_mode));
}

bool is_regular(int parent, const std::string& name) {
    struct stat status {};
    return ::fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
}

Fd open_at(const PosixOps& ops, int parent, const std::string& name, int flags) {
    for (;;) {
        Fd fd(ops.openat(parent, name.c_str(), flags, 0));
        if (fd || errno != EINTR) return fd;
    }
}

}  // namespace

void FileAttempt::fail(std::string_view reason) const {
    throw Error(Errc::storage_failed, fmt::format("{} \"{}\": {}", verb, key, reason));
}

void FileAttempt::fail(std::string_view step, int error) const {
    fail(fmt::format("{}: {}", step, std::error_code(error, std::generic_category()).message()));
}

Fd& Fd::operator=(Fd&& other) noexcept {
    if (this != &other) {
        const Fd old(fd_);
        fd_ = other.release();
    }
    return *this;
}

Fd::~Fd() {
    if (fd_ >= 0) ::close(fd_);
}

std::string_view kind_of(mode_t mode) noexcept {
    if (S_ISREG(mode)) return "a regular file";
    if (S_ISDIR(mode)) return "a directory";
    if (S_ISLNK(mode)) return "a symbolic link";
    if (S_ISFIFO(mode)) return "a FIFO";
    if (S_ISSOCK(mode)) return "a socket";
    return "a device";
}

std::string_view distrust_of(const struct stat& status) noexcept {
    if (status.st_uid != ::geteuid()) return "belongs to another user";
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "is writable by its group or by everyone (chmod go-w)";
    return {};
}

struct stat status_of(const FileAttempt& attempt, int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) attempt.fail("stat", errno);
    return status;
}

Fd duplicate(const FileAttempt& attempt, int fd) {
    Fd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (!copy) attempt.fail("dup", errno);
    return copy;
}

Fd open_directory(const PosixOps& ops, const FileAttempt& attempt, int parent, const std::string& name,
                  bool must_exist) {
    Fd fd = open_at(ops, parent, name, directory_flags);
    if (!fd) {
        const int error = errno;
        if (error == ENOENT || error == ENAMETOOLONG) return fd;
        if (error != ENOTDIR && error != ELOOP) attempt.fail(fmt::format("open directory \"{}\"", name), error);
        if (!must_exist && is_regular(parent, name)) return fd;
        attempt.fail(fmt::format("\"{}\" is {}, not a directory", name, what_is_at(parent, name)));
    }
    const std::string_view distrust = distrust_of(status_of(attempt, fd.get()));
    if (!distrust.empty()) attempt.fail(fmt::format("directory \"{}\" {}", name, distrust));
    return fd;
}

Fd open_or_create_directory(const PosixOps& ops, const FileAttempt& attempt, int parent, const std::string& name) {
    Fd fd = open_directory(ops, attempt, parent, name, true);
    if (fd) return fd;
    if (ops.mkdirat(parent, name.c_str(), 0700) != 0 && errno != EEXIST)
        attempt.fail(fmt::format("create directory \"{}\"", name), errno);
    fd = open_directory(ops, attempt, parent, name, true);
    if (!fd) attempt.fail(fmt::format("directory \"{}\" vanished", name));
    return fd;
}

Fd open_object(const PosixOps& ops, const FileAttempt& attempt, int parent, const std::string& name) {
    Fd fd = open_at(ops, parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (!fd) {
        const int error = errno;
        if (error == ENOENT || error == ENAMETOOLONG) return fd;
        if (error == ELOOP || error == ENXIO)
            attempt.fail(fmt::format("\"{}\" is {}, not a regular file", name, what_is_at(parent, name)));
        attempt.fail(fmt::format("open \"{}\"", name), error);
    }
    const struct stat status = status_of(attempt, fd.get());
    if (!S_ISREG(status.st_mode))
        attempt.fail(fmt::format("\"{}\" is {}, not a regular file", name, kind_of(status.st_mode)));
    if (status.st_uid != ::geteuid()) attempt.fail(fmt::format("\"{}\" belongs to another user", name));
    return fd;
}

std::int64_t length_of(const FileAttempt& attempt, int fd) { return status_of(attempt, fd).st_size; }

std::string read_at(const PosixOps& ops, const FileAttempt& attempt, int fd, std::int64_t offset, std::int64_t bytes) {
    std::string out(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0)), '\0');
    std::size_t done = 0;
    while (done < out.size()) {
        const ssize_t got = ops.pread(fd, out.data() + done, out.size() - done, offset + static_cast<off_t>(done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) attempt.fail("read", errno);
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    out.resize(done);
    return out;
}

std::string hash_of_file(const PosixOps& ops, const FileAttempt& attempt, int fd) {
    Sha256 hash;
    std::int64_t offset = 0;
    for (;;) {
        const std::string block = read_at(ops, attempt, fd, offset, read_block);
        hash.update(block);
        offset += static_cast<std::int64_t>(block.size());
        if (static_cast<std::int64_t>(block.size()) < read_block) return hash.hex_digest();
    }
}

bool is_same_file(const FileAttempt& attempt, int a, int b) {
    const struct stat first = status_of(attempt, a);
    const struct stat second = status_of(attempt, b);
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}  // namespace whittle::inline v0
