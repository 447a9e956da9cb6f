#if defined(_WIN32)

#    include "mapped_file.hpp"

#    include "whittle/base/detail/windows_text.hpp"
#    include "whittle/base/error.hpp"

#    include <fmt/format.h>

#    if !defined(WIN32_LEAN_AND_MEAN)
#        define WIN32_LEAN_AND_MEAN
#    endif
#    if !defined(NOMINMAX)
#        define NOMINMAX
#    endif
#    include <windows.h>

#    include <system_error>

namespace whittle::inline v0::bpe {
namespace {

class Handle {
public:
    explicit Handle(HANDLE handle) : handle_(handle) {}
    ~Handle() {
        if (is_open()) ::CloseHandle(handle_);
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    [[nodiscard]] HANDLE get() const noexcept { return handle_; }
    [[nodiscard]] bool is_open() const noexcept { return handle_ != nullptr && handle_ != INVALID_HANDLE_VALUE; }

private:
    HANDLE handle_;
};

[[noreturn]] void fail_to_open(const std::string& path) {
    const int error = detail::errno_of_windows(::GetLastError());
    throw Error(Errc::not_found, fmt::format("open vocabulary {}: {}", path, std::generic_category().message(error)));
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
    const std::wstring full = detail::to_long_path(path);
    const Handle file(full.empty() ? INVALID_HANDLE_VALUE
                                   : ::CreateFileW(full.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE,
                                                   nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr));
    LARGE_INTEGER size{};
    if (!file.is_open()) fail_to_open(path);
    if (::GetFileType(file.get()) != FILE_TYPE_DISK || ::GetFileSizeEx(file.get(), &size) == 0 || size.QuadPart == 0)
        throw Error(Errc::damaged, fmt::format("open vocabulary {}: not a packed vocabulary", path));
    const Handle mapping(::CreateFileMappingW(file.get(), nullptr, PAGE_READONLY, 0, 0, nullptr));
    if (!mapping.is_open()) fail_to_open(path);
    const void* const memory = ::MapViewOfFile(mapping.get(), FILE_MAP_READ, 0, 0, 0);
    if (memory == nullptr) fail_to_open(path);
    bytes_ = {static_cast<const unsigned char*>(memory), static_cast<std::size_t>(size.QuadPart)};
}

MappedFile::~MappedFile() { ::UnmapViewOfFile(bytes_.data()); }

}  // namespace whittle::inline v0::bpe

#endif
