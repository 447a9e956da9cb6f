#if defined(_WIN32)

#    include "system.hpp"

#    include "whittle/base/detail/windows_text.hpp"

#    if !defined(WIN32_LEAN_AND_MEAN)
#        define WIN32_LEAN_AND_MEAN
#    endif
#    if !defined(NOMINMAX)
#        define NOMINMAX
#    endif
#    include <windows.h>

#    include <shellapi.h>

#    include <fcntl.h>
#    include <io.h>
#    include <sys/stat.h>

#    include <algorithm>
#    include <cerrno>
#    include <chrono>
#    include <climits>
#    include <new>
#    include <system_error>

namespace whittle::cli::system {
namespace {

HANDLE handle_of(int file) noexcept { return reinterpret_cast<HANDLE>(::_get_osfhandle(file)); }

void allow_colours(int file) noexcept {
    DWORD mode = 0;
    if (::GetConsoleMode(handle_of(file), &mode) != 0)
        ::SetConsoleMode(handle_of(file), mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

bool is_directory(const std::wstring& path) noexcept {
    const DWORD attributes = ::GetFileAttributesW(path.c_str());
    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

int open_with(const std::string& path, int flags) {
    const std::wstring full = detail::to_long_path(path);
    if (full.empty()) {
        errno = EINVAL;
        return -1;
    }
    const int file = ::_wopen(full.c_str(), flags | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
    if (file < 0 && errno == EACCES && is_directory(full)) errno = EISDIR;
    return file;
}

}  // namespace

std::vector<std::string> set_up(int argc, char** argv) {
    for (const int file : {standard_input, standard_output, standard_error}) (void)::_setmode(file, _O_BINARY);
    ::SetConsoleOutputCP(CP_UTF8);
    ::SetConsoleCP(CP_UTF8);
    allow_colours(standard_output);
    allow_colours(standard_error);
    int count = 0;
    wchar_t** const wide = ::CommandLineToArgvW(::GetCommandLineW(), &count);
    if (wide == nullptr) return {argv, argv + argc};
    std::vector<std::string> arguments;
    for (int i = 0; i < count; ++i) arguments.push_back(detail::to_utf8(wide[i]));
    ::LocalFree(wide);
    return arguments;
}

int open_to_read(const std::string& path) { return open_with(path, _O_RDONLY); }
int open_to_write(const std::string& path) { return open_with(path, _O_WRONLY); }
int open_new(const std::string& path) { return open_with(path, _O_WRONLY | _O_CREAT | _O_EXCL); }

std::int64_t read(int file, void* to, std::size_t size) noexcept {
    return ::_read(file, to, static_cast<unsigned>(std::min<std::size_t>(size, INT_MAX)));
}
std::int64_t write(int file, const void* bytes, std::size_t size) noexcept {
    constexpr std::size_t most_at_once = 32'768;  // a console takes no more
    return ::_write(file, bytes, static_cast<unsigned>(std::min(size, most_at_once)));
}
void close(int file) noexcept { ::_close(file); }

std::uint64_t size_of(int file) noexcept {
    if (::GetFileType(handle_of(file)) != FILE_TYPE_DISK) return 0;
    const auto size = ::_filelengthi64(file);
    return size > 0 ? static_cast<std::uint64_t>(size) : 0;
}

bool claim_new(int) noexcept { return true; }

void remove_if_abandoned(const std::filesystem::path& file) noexcept {
    std::error_code error;
    const auto written = std::filesystem::last_write_time(file, error);
    if (!error && std::filesystem::file_time_type::clock::now() - written > std::chrono::hours(1))
        ::DeleteFileW(file.c_str());
}

void remove(const std::string& path) noexcept {
    try {
        ::DeleteFileW(detail::to_long_path(path).c_str());
    } catch (const std::bad_alloc&) {
        return;
    }
}

namespace {

int move_over(const std::string& path, const std::string& new_path) {
    constexpr int most_tries = 50;  // a scanner may have the old file open for a moment
    constexpr DWORD milliseconds_between = 10;
    const std::wstring from = detail::to_long_path(path);
    const std::wstring to = detail::to_long_path(new_path);
    for (int tries = 1; ::MoveFileExW(from.c_str(), to.c_str(), MOVEFILE_REPLACE_EXISTING) == 0; ++tries) {
        const DWORD error = ::GetLastError();
        const bool may_pass = error == ERROR_SHARING_VIOLATION || error == ERROR_ACCESS_DENIED;
        if (!may_pass || tries == most_tries) {
            errno = detail::errno_of_windows(error);
            return -1;
        }
        ::Sleep(milliseconds_between);
    }
    return 0;
}

}  // namespace

int close_as(int file, const std::string& path, const std::string& new_path) noexcept {
    const bool is_synced = ::_commit(file) == 0 || errno == EINVAL;
    const int error = errno;
    ::_close(file);
    errno = error;
    if (!is_synced) return -1;
    try {
        return move_over(path, new_path);
    } catch (const std::bad_alloc&) {
        errno = ENOMEM;
        return -1;
    }
}

std::filesystem::path path_of(const std::string& text) { return detail::to_utf16(text); }
std::string text_of(const std::filesystem::path& path) { return detail::to_utf8(path.native()); }

bool is_special(const std::string& path) {
    const std::wstring full = detail::to_long_path(path);
    const DWORD attributes = ::GetFileAttributesW(full.c_str());
    return full.starts_with(LR"(\\.\)") || (attributes != INVALID_FILE_ATTRIBUTES &&
                                            (attributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_DEVICE)) != 0);
}

bool can_write_in(const std::string& folder) {
    constexpr int to_write = 2;
    return ::_waccess(detail::to_long_path(folder).c_str(), to_write) == 0;
}

bool is_terminal(int file) noexcept {
    DWORD mode = 0;
    return ::GetConsoleMode(handle_of(file), &mode) != 0;
}

std::size_t columns(int file) noexcept {
    CONSOLE_SCREEN_BUFFER_INFO info{};
    if (::GetConsoleScreenBufferInfo(handle_of(file), &info) == 0) return 0;
    return static_cast<std::size_t>(std::max(0, info.srWindow.Right - info.srWindow.Left + 1));
}

bool to_local_time(std::time_t time, std::tm& calendar) noexcept { return ::localtime_s(&calendar, &time) == 0; }
bool to_utc(std::time_t time, std::tm& calendar) noexcept { return ::gmtime_s(&calendar, &time) == 0; }

int process_id() noexcept { return static_cast<int>(::GetCurrentProcessId()); }

std::filesystem::path program_path() {
    std::wstring name(SHRT_MAX, L'\0');
    name.resize(::GetModuleFileNameW(nullptr, name.data(), static_cast<DWORD>(name.size())));
    return name;
}

}  // namespace whittle::cli::system

#endif
