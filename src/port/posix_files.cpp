#include "posix_files.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <random>
#include <system_error>

namespace whittle::inline v0 {
namespace {

constexpr std::int64_t read_block = 256 * 1024;
constexpr int directory_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr int most_name_collisions = 100;

/// Different for every call in every process, as far as chance goes; O_EXCL catches the rest.
std::string temporary_name() {
    static std::atomic<std::uint64_t> calls{0};
    std::random_device device;
    const std::uint64_t random = (std::uint64_t{device()} << 32 | device()) + calls.fetch_add(1);
    return fmt::format("{}{}-{:016x}", temporary_prefix, ::getpid(), random);
}

/// What stands under `name` where a directory or an object of ours should be.
std::string describe(int parent, const std::string& name) {
    struct stat status {};
    if (::fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return "nothing";
    return std::string(kind_of(status.st_mode));
}

bool is_regular(int parent, const std::string& name) {
    struct stat status {};
    return ::fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
}

struct stat status_of(const Attempt& attempt, int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) attempt.fail("stat", errno);
    return status;
}

}  // namespace

void Attempt::fail(std::string_view reason) const {
    throw Error(Errc::storage_failed, fmt::format("{} \"{}\": {}", verb, key, reason));
}

void Attempt::fail(std::string_view step, int error) const {
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

Fd duplicate(const Attempt& attempt, int fd) {
    Fd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (!copy) attempt.fail("dup", errno);
    return copy;
}

Fd open_directory(const PosixOps& ops, const Attempt& attempt, int parent, const std::string& name, bool must_exist) {
    Fd fd(ops.openat(parent, name.c_str(), directory_flags, 0));
    if (!fd) {
        const int error = errno;
        if (error == ENOENT || error == ENAMETOOLONG) return fd;
        if (error != ENOTDIR && error != ELOOP) attempt.fail(fmt::format("open directory \"{}\"", name), error);
        if (!must_exist && is_regular(parent, name)) return fd;
        attempt.fail(fmt::format("\"{}\" is {}, not a directory", name, describe(parent, name)));
    }
    const std::string_view distrust = distrust_of(status_of(attempt, fd.get()));
    if (!distrust.empty()) attempt.fail(fmt::format("directory \"{}\" {}", name, distrust));
    return fd;
}

Fd open_or_create_directory(const PosixOps& ops, const Attempt& attempt, int parent, const std::string& name) {
    Fd fd = open_directory(ops, attempt, parent, name, true);
    if (fd) return fd;
    if (ops.mkdirat(parent, name.c_str(), 0700) != 0 && errno != EEXIST)
        attempt.fail(fmt::format("create directory \"{}\"", name), errno);
    fd = open_directory(ops, attempt, parent, name, true);
    if (!fd) attempt.fail(fmt::format("directory \"{}\" vanished", name));
    return fd;
}

Fd open_object(const PosixOps& ops, const Attempt& attempt, int parent, const std::string& name) {
    Fd fd(ops.openat(parent, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0));
    if (!fd) {
        const int error = errno;
        if (error == ENOENT || error == ENAMETOOLONG) return fd;
        if (error == ELOOP || error == ENXIO)
            attempt.fail(fmt::format("\"{}\" is {}, not a regular file", name, describe(parent, name)));
        attempt.fail(fmt::format("open \"{}\"", name), error);
    }
    const struct stat status = status_of(attempt, fd.get());
    if (!S_ISREG(status.st_mode))
        attempt.fail(fmt::format("\"{}\" is {}, not a regular file", name, kind_of(status.st_mode)));
    if (status.st_uid != ::geteuid()) attempt.fail(fmt::format("\"{}\" belongs to another user", name));
    return fd;
}

std::int64_t length_of(const Attempt& attempt, int fd) { return status_of(attempt, fd).st_size; }

std::string read_at(const PosixOps& ops, const Attempt& attempt, int fd, std::int64_t offset, std::int64_t bytes) {
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

std::string hash_of_file(const PosixOps& ops, const Attempt& attempt, int fd) {
    Sha256 hash;
    std::int64_t offset = 0;
    for (;;) {
        const std::string block = read_at(ops, attempt, fd, offset, read_block);
        hash.update(block);
        offset += static_cast<std::int64_t>(block.size());
        if (static_cast<std::int64_t>(block.size()) < read_block) return hash.hex_digest();
    }
}

void sync_directory(const PosixOps& ops, const Attempt& attempt, int directory) {
    if (ops.fsync(directory) != 0) attempt.fail("fsync of the directory", errno);
}

TemporaryFile::TemporaryFile(const PosixOps& ops, const Attempt& attempt, int directory)
    : ops_(ops), directory_(directory) {
    for (int tries = 0; !fd_; ++tries) {
        name_ = temporary_name();
        fd_ = Fd(ops_.openat(directory, name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!fd_ && (errno != EEXIST || tries >= most_name_collisions)) attempt.fail("create a temporary file", errno);
    }
    ::flock(fd_.get(), LOCK_EX | LOCK_NB);  // where locks are not to be had, the process id in the name must do
}

TemporaryFile::~TemporaryFile() {
    if (directory_ >= 0) ::unlinkat(directory_, name_.c_str(), 0);
}

void TemporaryFile::write(const Attempt& attempt, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t wrote = ops_.write(fd_.get(), bytes.data(), bytes.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) attempt.fail("write", errno);
        if (wrote == 0) attempt.fail("write: the system took no bytes");
        bytes.remove_prefix(static_cast<std::size_t>(wrote));
    }
}

void TemporaryFile::finish(const Attempt& attempt, Durability durability) {
    if (durability != Durability::none && ops_.fdatasync(fd_.get()) != 0) attempt.fail("fdatasync", errno);
    // After EINTR the descriptor is closed on Linux, and what was to be synced is synced.
    if (ops_.close(fd_.release()) != 0 && errno != EINTR) attempt.fail("close", errno);
}

}  // namespace whittle::inline v0
