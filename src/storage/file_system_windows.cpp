#include "file_names.hpp"
#include "file_system.hpp"
#include "whittle/base/detail/windows_text.hpp"

#if defined(_WIN32)

#    if !defined(WIN32_LEAN_AND_MEAN)
#        define WIN32_LEAN_AND_MEAN
#    endif
#    if !defined(NOMINMAX)
#        define NOMINMAX
#    endif
#    include <windows.h>
#    include <winternl.h>

#    include <algorithm>
#    include <cerrno>
#    include <climits>
#    include <new>
#    include <utility>

// Names are looked up below an open directory, which only the system's own calls (Nt...) can do: a path of names could
// be led elsewhere between a check and its use. Nothing is opened through a reparse point.

namespace whittle::inline v0 {
namespace {

/// Of ntdll, which every program has: the SDK declares them for drivers, or in part.
struct NativeCalls {
    using Create = NTSTATUS(NTAPI*)(HANDLE*, ACCESS_MASK, OBJECT_ATTRIBUTES*, IO_STATUS_BLOCK*, LARGE_INTEGER*, ULONG,
                                    ULONG, ULONG, ULONG, void*, ULONG);
    using SetInformation = NTSTATUS(NTAPI*)(HANDLE, IO_STATUS_BLOCK*, void*, ULONG, ULONG);
    using ToError = ULONG(NTAPI*)(NTSTATUS);

    Create create = find<Create>("NtCreateFile");
    SetInformation set_information = find<SetInformation>("NtSetInformationFile");
    ToError to_error = find<ToError>("RtlNtStatusToDosError");

private:
    template <typename Call>
    static Call find(const char* name) noexcept {
        return reinterpret_cast<Call>(
            reinterpret_cast<void*>(::GetProcAddress(::GetModuleHandleW(L"ntdll.dll"), name)));
    }
};

const NativeCalls& native() noexcept {
    static const NativeCalls calls;
    return calls;
}

constexpr ULONG rename_information = 10;
constexpr ULONG link_information = 11;
constexpr ULONG disposition_information = 13;
constexpr ULONG disposition_information_ex = 64;
constexpr ULONG rename_information_ex = 65;
constexpr ULONG delete_it = 1;
constexpr ULONG replace_it = 1;
constexpr ULONG as_posix_does = 2;  // the name goes at once, also while others have the file open

constexpr NTSTATUS sharing_violation = static_cast<NTSTATUS>(0xC0000043L);
constexpr NTSTATUS delete_pending = static_cast<NTSTATUS>(0xC0000056L);
constexpr NTSTATUS access_denied = static_cast<NTSTATUS>(0xC0000022L);
constexpr NTSTATUS invalid_parameter = static_cast<NTSTATUS>(0xC000000DL);
constexpr NTSTATUS invalid_class = static_cast<NTSTATUS>(0xC0000003L);
constexpr NTSTATUS not_supported = static_cast<NTSTATUS>(0xC00000BBL);
constexpr NTSTATUS invalid_device_request = static_cast<NTSTATUS>(0xC0000010L);
constexpr NTSTATUS not_implemented = static_cast<NTSTATUS>(0xC0000002L);

/// Scanners and indexers open files for a moment, without sharing them. That long they are waited for, in all.
constexpr int most_attempts = 50;
constexpr DWORD milliseconds_between = 10;

/// A lock far behind any content: Windows keeps others from reading what is locked.
constexpr DWORD lock_offset_high = 0x4000'0000;

HANDLE handle_of_file(NativeFile file) noexcept { return reinterpret_cast<HANDLE>(file); }
NativeFile native_file_of(HANDLE handle) noexcept { return reinterpret_cast<NativeFile>(handle); }

int fail_with(int error) noexcept {
    errno = error;
    return -1;
}
int fail_as_last_error_says() noexcept { return fail_with(detail::errno_of_windows(::GetLastError())); }
/// What `call` gives; -1 and ENOMEM without memory.
template <typename Call>
auto within_memory(const Call& call) noexcept -> decltype(call()) {
    try {
        return call();
    } catch (const std::bad_alloc&) {
        return fail_with(ENOMEM);
    }
}

class OpenHandle {
public:
    OpenHandle() = default;
    ~OpenHandle() {
        if (handle != INVALID_HANDLE_VALUE) ::CloseHandle(handle);
    }
    OpenHandle(const OpenHandle&) = delete;
    OpenHandle& operator=(const OpenHandle&) = delete;
    [[nodiscard]] HANDLE release() noexcept { return std::exchange(handle, INVALID_HANDLE_VALUE); }

    HANDLE handle = INVALID_HANDLE_VALUE;
};

int result_of(NTSTATUS status) noexcept {
    return status >= 0 ? 0 : fail_with(detail::errno_of_windows(native().to_error(status)));
}

/// As often as `call` is refused because somebody has the file open just now.
template <typename Call>
NTSTATUS while_others_have_it(const Call& call) noexcept {
    NTSTATUS status = call();
    for (int tries = 1; tries < most_attempts; ++tries) {
        if (status != sharing_violation && status != delete_pending) break;
        ::Sleep(milliseconds_between);
        status = call();
    }
    return status;
}

/// A name below an open directory.
struct Name {
    explicit Name(std::string_view name) : text(detail::to_utf16(name)) {
        std::ranges::replace(text, L'/', L'\\');
        if (text == L".") text.clear();  // the directory itself
        counted.Buffer = text.data();
        counted.Length = counted.MaximumLength = static_cast<USHORT>(text.size() * sizeof(wchar_t));
    }
    [[nodiscard]] bool is_usable(std::string_view given) const noexcept {
        return given == "." || (!text.empty() && !is_too_long());
    }
    /// A component longer than file systems have. Names are components, or the way to one of the store's folders.
    [[nodiscard]] bool is_too_long() const noexcept {
        constexpr std::size_t longest = 255;
        std::size_t begin = 0;
        for (std::size_t end = 0; begin <= text.size(); begin = end + 1) {
            end = std::min(text.find(L'\\', begin), text.size());
            if (end - begin > longest) return true;
        }
        return false;
    }
    std::wstring text;
    UNICODE_STRING counted{};
};

struct HowToOpen {
    ACCESS_MASK access = 0;
    ULONG disposition = FILE_OPEN;
    ULONG options = 0;
};

constexpr ULONG share_all = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

HowToOpen how_to(OpenAs how) noexcept {
    constexpr ULONG plain_file = FILE_NON_DIRECTORY_FILE;
    switch (how) {
        case OpenAs::directory: return {FILE_LIST_DIRECTORY | FILE_TRAVERSE, FILE_OPEN, FILE_DIRECTORY_FILE};
        case OpenAs::reading: return {FILE_GENERIC_READ, FILE_OPEN, plain_file};
        case OpenAs::new_file: return {FILE_GENERIC_READ | FILE_GENERIC_WRITE, FILE_CREATE, plain_file};
        case OpenAs::lock_file: return {FILE_GENERIC_READ | FILE_GENERIC_WRITE, FILE_OPEN_IF, plain_file};
    }
    return {};
}

NTSTATUS open_below(HANDLE at, Name& name, const HowToOpen& how, HANDLE& opened) noexcept {
    OBJECT_ATTRIBUTES attributes{};
    attributes.Length = sizeof attributes;
    attributes.RootDirectory = at;
    attributes.ObjectName = &name.counted;
    attributes.Attributes = 0x40;  // OBJ_CASE_INSENSITIVE
    IO_STATUS_BLOCK done{};
    return while_others_have_it([&] {
        return native().create(&opened, how.access | FILE_READ_ATTRIBUTES | SYNCHRONIZE, &attributes, &done, nullptr,
                               FILE_ATTRIBUTE_NORMAL, share_all, how.disposition,
                               how.options | FILE_SYNCHRONOUS_IO_NONALERT | FILE_OPEN_REPARSE_POINT, nullptr, 0);
    });
}

/// By a path: the root of a store, and what is above it.
HANDLE open_path(const char* path, const HowToOpen& how) {
    const std::wstring full = detail::to_long_path(path);
    if (full.empty()) return INVALID_HANDLE_VALUE;
    const DWORD disposition = how.disposition == FILE_CREATE    ? CREATE_NEW
                              : how.disposition == FILE_OPEN_IF ? OPEN_ALWAYS
                                                                : OPEN_EXISTING;
    return ::CreateFileW(full.c_str(), how.access | FILE_READ_ATTRIBUTES | SYNCHRONIZE, share_all, nullptr, disposition,
                         FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, nullptr);
}

std::int64_t of_halves(DWORD high, DWORD low) noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(high) << 32 | low);
}

/// Seconds since 1970 of 100 nanoseconds since 1601.
std::int64_t unix_seconds(std::int64_t ticks) noexcept {
    constexpr std::int64_t seconds_to_1970 = 11'644'473'600;
    return ticks / 10'000'000 - seconds_to_1970;
}

FileStatus status_from(DWORD attributes, std::int64_t bytes, std::int64_t written) noexcept {
    const bool is_link = (attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
    const bool is_directory = !is_link && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    const bool is_regular = !is_link && !is_directory && (attributes & FILE_ATTRIBUTE_DEVICE) == 0;
    return {.is_regular = is_regular,
            .is_directory = is_directory,
            .kind = is_link        ? "a symbolic link or another reparse point"
                    : is_directory ? "a directory"
                    : is_regular   ? "a regular file"
                                   : "a device",
            .bytes = bytes,
            .modified = unix_seconds(written)};
}

bool is_reparse_point(HANDLE file) noexcept {
    BY_HANDLE_FILE_INFORMATION found{};
    return ::GetFileInformationByHandle(file, &found) != 0 &&
           (found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
}

/// Opens what has that name: below a directory, or by a path. 0, or -1 and errno.
int open_named(NativeFile at, const char* name, const HowToOpen& how, OpenHandle& opened) {
    if (at == working_directory) {
        opened.handle = open_path(name, how);
        return opened.handle == INVALID_HANDLE_VALUE ? fail_as_last_error_says() : 0;
    }
    Name below(name);
    if (!below.is_usable(name)) return fail_with(below.is_too_long() ? ENAMETOOLONG : EINVAL);
    HANDLE found = INVALID_HANDLE_VALUE;
    const NTSTATUS status = open_below(handle_of_file(at), below, how, found);
    if (status < 0) return result_of(status);
    opened.handle = found;
    return 0;
}

/// FILE_RENAME_INFORMATION and FILE_LINK_INFORMATION are of one layout.
struct NewName {
    ULONG flags = 0;
    HANDLE directory = nullptr;
    ULONG length = 0;
    wchar_t first = L'\0';
};

NTSTATUS give_name(HANDLE file, NativeFile to, const Name& name, ULONG flags, ULONG kind) {
    const std::size_t bytes = name.text.size() * sizeof(wchar_t);
    std::vector<std::byte> buffer(sizeof(NewName) + bytes);
    auto* const information = new (buffer.data())
        NewName{.flags = flags, .directory = handle_of_file(to), .length = static_cast<ULONG>(bytes)};
    std::copy_n(name.text.data(), name.text.size(), &information->first);
    IO_STATUS_BLOCK done{};
    return while_others_have_it(
        [&] { return native().set_information(file, &done, buffer.data(), static_cast<ULONG>(buffer.size()), kind); });
}

bool is_unknown(NTSTATUS status) noexcept {
    return status == invalid_parameter || status == invalid_class || status == not_supported ||
           status == not_implemented || status == invalid_device_request;
}

}  // namespace

NativeFile FileSystem::open(NativeFile at, const char* name, OpenAs how) noexcept {
    return within_memory([&]() -> NativeFile {
        OpenHandle opened;
        if (open_named(at, name, how_to(how), opened) != 0) return no_file;
        FileStatus status;
        if (status_of(native_file_of(opened.handle), status) != 0) return no_file;
        if (is_reparse_point(opened.handle)) return fail_with(ELOOP);
        if (how == OpenAs::directory && !status.is_directory) return fail_with(ENOTDIR);
        return native_file_of(opened.release());
    });
}

NativeFile FileSystem::open_beneath(NativeFile, const char*) noexcept { return fail_with(ENOSYS); }

int FileSystem::make_directory(NativeFile at, const char* name) noexcept {
    return within_memory([&] {
        if (at == working_directory) {
            const std::wstring full = detail::to_long_path(name);
            return !full.empty() && ::CreateDirectoryW(full.c_str(), nullptr) != 0 ? 0 : fail_as_last_error_says();
        }
        OpenHandle made;
        return open_named(at, name, {FILE_LIST_DIRECTORY, FILE_CREATE, FILE_DIRECTORY_FILE}, made);
    });
}

std::int64_t FileSystem::write(NativeFile file, const void* data, std::size_t size) noexcept {
    DWORD wrote = 0;
    const auto at_once = static_cast<DWORD>(std::min<std::size_t>(size, 1U << 30));
    return ::WriteFile(handle_of_file(file), data, at_once, &wrote, nullptr) != 0 ? static_cast<std::int64_t>(wrote)
                                                                                  : fail_as_last_error_says();
}

std::int64_t FileSystem::read_at(NativeFile file, void* data, std::size_t size, std::int64_t offset) noexcept {
    OVERLAPPED place{};
    place.Offset = static_cast<DWORD>(offset);
    place.OffsetHigh = static_cast<DWORD>(offset >> 32);
    DWORD got = 0;
    const auto at_once = static_cast<DWORD>(std::min<std::size_t>(size, 1U << 30));
    if (::ReadFile(handle_of_file(file), data, at_once, &got, &place) != 0) return got;
    return ::GetLastError() == ERROR_HANDLE_EOF ? 0 : fail_as_last_error_says();
}

/// Windows flushes what may be written to: a file that was opened for reading is opened once more.
int FileSystem::sync_data(NativeFile file) noexcept {
    if (::FlushFileBuffers(handle_of_file(file)) != 0) return 0;
    if (::GetLastError() != ERROR_ACCESS_DENIED) return fail_as_last_error_says();
    return within_memory([&] {
        OpenHandle writable;
        if (open_named(file, ".", {FILE_GENERIC_WRITE, FILE_OPEN, FILE_NON_DIRECTORY_FILE}, writable) != 0) return -1;
        return ::FlushFileBuffers(writable.handle) != 0 ? 0 : fail_as_last_error_says();
    });
}

int FileSystem::sync_names(NativeFile) noexcept { return 0; }
bool FileSystem::syncs_names() noexcept { return false; }

int FileSystem::close(NativeFile file) noexcept {
    return ::CloseHandle(handle_of_file(file)) != 0 ? 0 : fail_as_last_error_says();
}

namespace {

int lock_with(NativeFile file, DWORD flags) noexcept {
    OVERLAPPED place{};
    place.OffsetHigh = lock_offset_high;
    return ::LockFileEx(handle_of_file(file), LOCKFILE_EXCLUSIVE_LOCK | flags, 0, 1, 0, &place) != 0
               ? 0
               : fail_as_last_error_says();
}

}  // namespace

int FileSystem::lock(NativeFile file) noexcept { return lock_with(file, 0); }
int FileSystem::try_lock(NativeFile file) noexcept { return lock_with(file, LOCKFILE_FAIL_IMMEDIATELY); }
void FileSystem::unlock(NativeFile file) noexcept {
    OVERLAPPED place{};
    place.OffsetHigh = lock_offset_high;
    ::UnlockFileEx(handle_of_file(file), 0, 1, 0, &place);
}

int FileSystem::rename(NativeFile from, const char* name, NativeFile to, const char* new_name) noexcept {
    return within_memory([&] {
        OpenHandle file;
        if (open_named(from, name, {DELETE, FILE_OPEN, 0}, file) != 0) return -1;
        const Name target(new_name);
        NTSTATUS status = give_name(file.handle, to, target, replace_it | as_posix_does, rename_information_ex);
        if (is_unknown(status)) status = give_name(file.handle, to, target, replace_it, rename_information);
        // Without the semantics of POSIX a file that others have open cannot be replaced.
        for (int tries = 1; status == access_denied && tries < most_attempts; ++tries) {
            ::Sleep(milliseconds_between);
            status = give_name(file.handle, to, target, replace_it, rename_information);
        }
        return result_of(status);
    });
}

int FileSystem::link(NativeFile from, const char* name, NativeFile to, const char* new_name) noexcept {
    return within_memory([&] {
        OpenHandle file;
        if (open_named(from, name, {DELETE, FILE_OPEN, 0}, file) != 0) return -1;
        return result_of(give_name(file.handle, to, Name(new_name), 0, link_information));
    });
}

int FileSystem::remove(NativeFile at, const char* name) noexcept {
    return within_memory([&] {
        OpenHandle file;
        if (open_named(at, name, {DELETE, FILE_OPEN, 0}, file) != 0) return -1;
        IO_STATUS_BLOCK done{};
        ULONG how = delete_it | as_posix_does;
        NTSTATUS status = native().set_information(file.handle, &done, &how, sizeof how, disposition_information_ex);
        if (is_unknown(status)) {
            BOOLEAN simply = TRUE;
            status = native().set_information(file.handle, &done, &simply, sizeof simply, disposition_information);
        }
        return result_of(status);
    });
}

int FileSystem::status_of(NativeFile file, FileStatus& status) noexcept {
    BY_HANDLE_FILE_INFORMATION found{};
    if (::GetFileInformationByHandle(handle_of_file(file), &found) == 0) return fail_as_last_error_says();
    status = status_from(found.dwFileAttributes, of_halves(found.nFileSizeHigh, found.nFileSizeLow),
                         of_halves(found.ftLastWriteTime.dwHighDateTime, found.ftLastWriteTime.dwLowDateTime));
    status.names = found.nNumberOfLinks;
    status.id = {found.dwVolumeSerialNumber,
                 static_cast<std::uint64_t>(of_halves(found.nFileIndexHigh, found.nFileIndexLow))};
    return 0;
}

int FileSystem::status_at(NativeFile at, const char* name, FileStatus& status) noexcept {
    return within_memory([&] {
        OpenHandle opened;
        return open_named(at, name, {}, opened) == 0 ? status_of(native_file_of(opened.handle), status) : -1;
    });
}

NativeFile FileSystem::duplicate(NativeFile file) noexcept {
    HANDLE copy = INVALID_HANDLE_VALUE;
    const HANDLE process = ::GetCurrentProcess();
    if (::DuplicateHandle(process, handle_of_file(file), process, &copy, 0, FALSE, DUPLICATE_SAME_ACCESS) == 0)
        return fail_as_last_error_says();
    return native_file_of(copy);
}

int FileSystem::list(NativeFile directory, std::vector<DirectoryEntry>& entries) {
    OpenHandle opened;  // again, for a position of its own
    if (open_named(directory, ".", {FILE_LIST_DIRECTORY, FILE_OPEN, FILE_DIRECTORY_FILE}, opened) != 0) return -1;
    alignas(FILE_ID_BOTH_DIR_INFO) std::byte buffer[64 * 1024];
    while (::GetFileInformationByHandleEx(opened.handle, FileIdBothDirectoryInfo, buffer, sizeof buffer) != 0) {
        const std::byte* at = buffer;
        for (;;) {
            const auto& found = *reinterpret_cast<const FILE_ID_BOTH_DIR_INFO*>(at);
            DirectoryEntry entry{.name = detail::to_utf8({found.FileName, found.FileNameLength / sizeof(wchar_t)})};
            const bool is_itself = entry.name == "." || entry.name == "..";
            // The directory knows sizes and times only once a file is closed that was opened by this very name.
            if (!is_itself && status_at(directory, entry.name.c_str(), entry.status) == 0)
                entries.push_back(std::move(entry));
            if (found.NextEntryOffset == 0) break;
            at += found.NextEntryOffset;
        }
    }
    const DWORD error = ::GetLastError();
    return error == ERROR_NO_MORE_FILES ? 0 : fail_with(detail::errno_of_windows(error));
}

bool FileSystem::exists(const std::string& path) noexcept {
    return within_memory([&] {
               const std::wstring full = detail::to_long_path(path);
               return !full.empty() && ::GetFileAttributesW(full.c_str()) != INVALID_FILE_ATTRIBUTES ? 0 : -1;
           }) == 0;
}

std::string FileSystem::with_slashes(std::string path) {
    std::ranges::replace(path, '\\', '/');
    return path;
}

std::string FileSystem::absolute_path(NativeFile directory, const std::string& given) {
    std::wstring path(::GetFinalPathNameByHandleW(handle_of_file(directory), nullptr, 0, FILE_NAME_NORMALIZED), L'\0');
    path.resize(::GetFinalPathNameByHandleW(handle_of_file(directory), path.data(), static_cast<DWORD>(path.size()),
                                            FILE_NAME_NORMALIZED));
    if (path.empty()) path = detail::to_long_path(given);  // where a volume does not say it
    if (path.starts_with(LR"(\\?\UNC\)")) return with_slashes(R"(\\)" + detail::to_utf8(path.substr(8)));
    if (path.starts_with(LR"(\\?\)")) return with_slashes(detail::to_utf8(path.substr(4)));
    return with_slashes(detail::to_utf8(path));
}

std::string FileSystem::name_of_component(std::string_view component) { return to_windows_name(component); }
std::string FileSystem::component_of_name(std::string_view name) { return from_windows_name(name); }

std::int64_t FileSystem::process_id() noexcept { return ::GetCurrentProcessId(); }

bool FileSystem::is_running(std::int64_t process) noexcept {
    const HANDLE found = ::OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(process));
    if (found == nullptr) return ::GetLastError() != ERROR_INVALID_PARAMETER;
    DWORD code = 0;
    const bool is_alive = ::GetExitCodeProcess(found, &code) == 0 || code == STILL_ACTIVE;
    ::CloseHandle(found);
    return is_alive;
}

}  // namespace whittle::inline v0

#endif
