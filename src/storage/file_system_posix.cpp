#include "file_system.hpp"

#if !defined(_WIN32)

#    include <dirent.h>
#    include <fcntl.h>
#    include <signal.h>
#    include <sys/file.h>
#    include <sys/stat.h>
#    include <unistd.h>

#    include <cerrno>
#    include <cstdlib>

#    if defined(__linux__) && __has_include(<linux/openat2.h>)
#        include <linux/openat2.h>
#        include <sys/syscall.h>
#    endif

namespace whittle::inline v0 {
namespace {

int fd_of(NativeFile file) noexcept { return file == working_directory ? AT_FDCWD : static_cast<int>(file); }

constexpr int directory_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

int flags_of(OpenAs how) noexcept {
    switch (how) {
        case OpenAs::directory: return directory_flags;
        case OpenAs::reading: return O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
        case OpenAs::new_file: return O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
        case OpenAs::lock_file: return O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    }
    return O_RDONLY;
}

std::string_view file_kind_of(mode_t mode) noexcept {
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

FileStatus neutral(const struct stat& status) noexcept {
    return {.is_regular = S_ISREG(status.st_mode),
            .is_directory = S_ISDIR(status.st_mode),
            .kind = file_kind_of(status.st_mode),
            .distrust = distrust_of(status),
            .is_ours = status.st_uid == ::geteuid(),
            .bytes = status.st_size,
            .modified = status.st_mtime,
            .names = static_cast<std::int64_t>(status.st_nlink),
            .id = {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino)}};
}

struct CloseDirectory {
    void operator()(DIR* stream) const noexcept { ::closedir(stream); }
};
using DirectoryStream = std::unique_ptr<DIR, CloseDirectory>;

/// A stream with a position of its own: a duplicate would share that of `directory`.
DirectoryStream open_stream(NativeFile directory) noexcept {
    const int fd = ::openat(fd_of(directory), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return nullptr;
    DirectoryStream stream(::fdopendir(fd));
    if (!stream) ::close(fd);
    return stream;
}

}  // namespace

NativeFile FileSystem::open(NativeFile at, const char* name, OpenAs how) noexcept {
    constexpr mode_t for_the_owner = 0600;
    return ::openat(fd_of(at), name, flags_of(how), for_the_owner);
}

#    if defined(SYS_openat2)
NativeFile FileSystem::open_beneath(NativeFile root, const char* path) noexcept {
    open_how how{};
    how.flags = static_cast<decltype(how.flags)>(directory_flags);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
    return static_cast<NativeFile>(::syscall(SYS_openat2, fd_of(root), path, &how, sizeof how));
}
#    else
NativeFile FileSystem::open_beneath(NativeFile, const char*) noexcept {
    errno = ENOSYS;
    return no_file;
}
#    endif

int FileSystem::make_directory(NativeFile at, const char* name) noexcept {
    constexpr mode_t for_the_owner = 0700;
    return ::mkdirat(fd_of(at), name, for_the_owner);
}

std::int64_t FileSystem::write(NativeFile file, const void* data, std::size_t size) noexcept {
    return ::write(fd_of(file), data, size);
}

std::int64_t FileSystem::read_at(NativeFile file, void* data, std::size_t size, std::int64_t offset) noexcept {
    return ::pread(fd_of(file), data, size, static_cast<off_t>(offset));
}

#    if defined(__APPLE__)
/// There `fsync` leaves the bytes in the disk's own cache.
int FileSystem::sync_data(NativeFile file) noexcept {
    if (::fcntl(fd_of(file), F_FULLFSYNC) == 0) return 0;
    const bool is_unknown = errno == ENOTSUP || errno == ENOTTY || errno == EINVAL;
    return is_unknown ? ::fsync(fd_of(file)) : -1;
}
int FileSystem::sync_names(NativeFile directory) noexcept { return sync_data(directory); }
#    else
int FileSystem::sync_data(NativeFile file) noexcept { return ::fdatasync(fd_of(file)); }
int FileSystem::sync_names(NativeFile directory) noexcept { return ::fsync(fd_of(directory)); }
#    endif

bool FileSystem::syncs_names() noexcept { return true; }

int FileSystem::close(NativeFile file) noexcept { return ::close(fd_of(file)); }

int FileSystem::lock(NativeFile file) noexcept { return ::flock(fd_of(file), LOCK_EX); }
int FileSystem::try_lock(NativeFile file) noexcept { return ::flock(fd_of(file), LOCK_EX | LOCK_NB); }
void FileSystem::unlock(NativeFile file) noexcept { ::flock(fd_of(file), LOCK_UN); }

int FileSystem::rename(NativeFile from, const char* name, NativeFile to, const char* new_name) noexcept {
    return ::renameat(fd_of(from), name, fd_of(to), new_name);
}

int FileSystem::link(NativeFile from, const char* name, NativeFile to, const char* new_name) noexcept {
    return ::linkat(fd_of(from), name, fd_of(to), new_name, 0);
}

int FileSystem::remove(NativeFile at, const char* name) noexcept { return ::unlinkat(fd_of(at), name, 0); }

int FileSystem::status_of(NativeFile file, FileStatus& status) noexcept {
    struct stat found {};
    if (::fstat(fd_of(file), &found) != 0) return -1;
    status = neutral(found);
    return 0;
}

int FileSystem::status_at(NativeFile at, const char* name, FileStatus& status) noexcept {
    struct stat found {};
    if (::fstatat(fd_of(at), name, &found, AT_SYMLINK_NOFOLLOW) != 0) return -1;
    status = neutral(found);
    return 0;
}

NativeFile FileSystem::duplicate(NativeFile file) noexcept { return ::fcntl(fd_of(file), F_DUPFD_CLOEXEC, 0); }

int FileSystem::list(NativeFile directory, std::vector<DirectoryEntry>& entries) {
    const DirectoryStream stream = open_stream(directory);
    if (!stream) return -1;
    for (;;) {
        errno = 0;
        const dirent* const found = ::readdir(stream.get());
        if (!found) return errno == 0 ? 0 : -1;
        const std::string_view name = found->d_name;
        if (name == "." || name == "..") continue;
        DirectoryEntry entry{.name = std::string(name)};
        if (status_at(directory, entry.name.c_str(), entry.status) == 0) entries.push_back(std::move(entry));
    }
}

bool FileSystem::exists(const std::string& path) noexcept { return ::access(path.c_str(), F_OK) == 0; }

std::string FileSystem::with_slashes(std::string path) { return path; }

std::string FileSystem::absolute_path(NativeFile, const std::string& path) {
    const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr), &std::free);
    return resolved ? resolved.get() : std::string();
}

std::string FileSystem::name_of_component(std::string_view component) { return std::string(component); }
std::string FileSystem::component_of_name(std::string_view name) { return std::string(name); }

std::int64_t FileSystem::process_id() noexcept { return ::getpid(); }

bool FileSystem::is_running(std::int64_t process) noexcept {
    return !std::in_range<pid_t>(process) || ::kill(static_cast<pid_t>(process), 0) == 0 || errno != ESRCH;
}

}  // namespace whittle::inline v0

#endif
