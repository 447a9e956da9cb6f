#pragma once

#include "whittle/storage/storage.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace whittle::inline v0 {

/// `openat2` with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS: no component of `path` leaves `root` or is a symbolic link.
/// -1 with ENOSYS where the system has no such call.
[[nodiscard]] int open_beneath(int root, const char* path, int flags) noexcept;

/// The system calls by which a write can fail. Tests put in others; each sets `errno` as the system would.
struct PosixOps {
    std::function<int(int, const char*, int)> open_beneath = whittle::open_beneath;
    std::function<int(int, const char*, int, mode_t)> openat = [](int at, const char* path, int flags, mode_t mode) {
        return ::openat(at, path, flags, mode);
    };
    std::function<int(int, const char*, mode_t)> mkdirat = ::mkdirat;
    std::function<ssize_t(int, const void*, std::size_t)> write = ::write;
    std::function<ssize_t(int, void*, std::size_t, off_t)> pread = ::pread;
    std::function<int(int)> fdatasync = ::fdatasync;
    std::function<int(int)> fsync = ::fsync;
    std::function<int(int)> close = ::close;
    std::function<int(int, int)> flock = ::flock;
    std::function<int(int, const char*, int, const char*)> renameat = ::renameat;
    std::function<int(int, const char*, int, const char*)> linkat = [](int from, const char* a, int to, const char* b) {
        return ::linkat(from, a, to, b, 0);
    };
    std::function<int(int, const char*)> unlinkat = [](int at, const char* name) { return ::unlinkat(at, name, 0); };
};

/// `file_storage` on top of `ops`.
[[nodiscard]] std::shared_ptr<Storage> file_storage_on(PosixOps ops, std::string_view root,
                                                       const FileStorageOptions& options);

}  // namespace whittle::inline v0
