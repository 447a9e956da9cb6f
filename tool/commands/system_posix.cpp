#if !defined(_WIN32)

#    include "system.hpp"

#    include <fcntl.h>
#    include <sys/file.h>
#    include <sys/ioctl.h>
#    include <sys/stat.h>
#    include <unistd.h>

#    include <array>
#    include <cerrno>
#    include <cstdio>
#    include <system_error>

#    if defined(__APPLE__)
#        include <mach-o/dyld.h>
#    endif

namespace whittle::cli::system {

std::vector<std::string> set_up(int argc, char** argv) { return {argv, argv + argc}; }

int open_to_read(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info {};
    if (file < 0 || ::fstat(file, &info) != 0 || !S_ISDIR(info.st_mode)) return file;
    ::close(file);
    errno = EISDIR;
    return -1;
}

int open_to_write(const std::string& path) { return ::open(path.c_str(), O_WRONLY | O_CLOEXEC); }

int open_new(const std::string& path) {
    constexpr mode_t by_the_umask = 0666;
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, by_the_umask);
}

std::int64_t read(int file, void* to, std::size_t size) noexcept { return ::read(file, to, size); }
std::int64_t write(int file, const void* bytes, std::size_t size) noexcept { return ::write(file, bytes, size); }
void close(int file) noexcept { ::close(file); }

std::uint64_t size_of(int file) noexcept {
    struct stat info {};
    return ::fstat(file, &info) == 0 && S_ISREG(info.st_mode) ? static_cast<std::uint64_t>(info.st_size) : 0;
}

/// Who writes a temporary file holds its lock. Where a file system has no locks, a sweep gets none either.
bool claim_new(int file) noexcept {
    if (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
    struct stat info {};
    return ::fstat(file, &info) != 0 || info.st_nlink > 0;
}

void remove_if_abandoned(const std::filesystem::path& file) noexcept {
    const int opened = ::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (opened < 0) return;
    if (::flock(opened, LOCK_EX | LOCK_NB) == 0) ::unlink(file.c_str());
    ::close(opened);
}

void remove(const std::string& path) noexcept { ::unlink(path.c_str()); }

int close_as(int file, const std::string& path, const std::string& new_path) noexcept {
    struct stat old {};
    if (::stat(new_path.c_str(), &old) == 0) (void)::fchmod(file, old.st_mode & 07777U);
    const bool is_synced = ::fsync(file) == 0 || errno == EINVAL;
    const int result = is_synced ? std::rename(path.c_str(), new_path.c_str()) : -1;
    const int error = errno;
    ::close(file);  // and with it the lock
    errno = error;
    return result;
}

std::filesystem::path path_of(const std::string& text) { return text; }
std::string text_of(const std::filesystem::path& path) { return path.string(); }

bool is_special(const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

bool can_write_in(const std::string& folder) { return ::access(folder.c_str(), W_OK | X_OK) == 0; }

bool is_terminal(int file) noexcept { return ::isatty(file) == 1; }

std::size_t columns(int file) noexcept {
    struct winsize size {};
    return ::ioctl(file, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool to_local_time(std::time_t time, std::tm& calendar) noexcept { return ::localtime_r(&time, &calendar) != nullptr; }
bool to_utc(std::time_t time, std::tm& calendar) noexcept { return ::gmtime_r(&time, &calendar) != nullptr; }

int process_id() noexcept { return ::getpid(); }

std::filesystem::path program_path() {
    std::error_code error;
#    if defined(__APPLE__)
    std::array<char, 4096> name{};
    auto size = static_cast<std::uint32_t>(name.size());
    if (::_NSGetExecutablePath(name.data(), &size) != 0) return {};
    return std::filesystem::canonical(name.data(), error);
#    else
    return std::filesystem::read_symlink("/proc/self/exe", error);
#    endif
}

}  // namespace whittle::cli::system

#endif
