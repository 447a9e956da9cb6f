#pragma once

#include "whittle/storage/storage.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The system's calls for files, as far as the file storage needs them: file_system_posix.cpp, file_system_windows.cpp.
// Each call that can fail returns -1 (no_file) and sets `errno`. Texts are UTF-8. No call follows a symbolic link, or
// what Windows has of that kind (reparse points), in the last component of a name.

namespace whittle::inline v0 {

/// An open file or directory: a descriptor of POSIX, a handle of Windows.
using NativeFile = std::intptr_t;
inline constexpr NativeFile no_file = -1;
/// In place of a directory: the name is a path, absolute or from the working directory.
inline constexpr NativeFile working_directory = -2;

enum class OpenAs {
    directory,  ///< to look up names in it
    reading,    ///< a file; never waits, not even for who writes into a FIFO
    new_file,   ///< for writing; fails if the name is taken
    lock_file,  ///< to lock it; made if it is not there
};

struct FileStatus {
    bool is_regular = false;
    bool is_directory = false;
    std::string_view kind{};      ///< "a regular file", "a symbolic link", ...
    std::string_view distrust{};  ///< why a directory like this must not be used; empty: it may
    bool is_ours = true;          ///< its owner is the user that we run as
    std::int64_t bytes = 0;
    std::int64_t modified = 0;                     ///< seconds since 1970
    std::int64_t names = 1;                        ///< that it has in directories
    std::pair<std::uint64_t, std::uint64_t> id{};  ///< the same for the same file
};

/// One name in a directory.
struct DirectoryEntry {
    std::string name{};
    FileStatus status{};
};

/// The calls.
struct FileSystem {
    [[nodiscard]] static NativeFile open(NativeFile at, const char* name, OpenAs how) noexcept;
    /// Opens the directory `path` below `root`, of which no component leaves `root` or is a link. Fails with ENOSYS
    /// where the system has no single call for that.
    [[nodiscard]] static NativeFile open_beneath(NativeFile root, const char* path) noexcept;
    /// For its owner alone; on Windows for whom the folder above it is.
    [[nodiscard]] static int make_directory(NativeFile at, const char* name) noexcept;
    [[nodiscard]] static std::int64_t write(NativeFile file, const void* data, std::size_t size) noexcept;
    [[nodiscard]] static std::int64_t read_at(NativeFile file, void* data, std::size_t size,
                                              std::int64_t offset) noexcept;
    /// The content and the length reach the disk.
    [[nodiscard]] static int sync_data(NativeFile file) noexcept;
    /// The names in a directory reach the disk. Windows documents no such call, and nothing is done there: names are as
    /// durable as its file system's log.
    [[nodiscard]] static int sync_names(NativeFile directory) noexcept;
    [[nodiscard]] static bool syncs_names() noexcept;
    static int close(NativeFile file) noexcept;
    /// Waits for the exclusive lock of an open file, which its duplicates share and which ends with the last of them.
    [[nodiscard]] static int lock(NativeFile file) noexcept;
    /// The same without waiting: fails if another one has it.
    [[nodiscard]] static int try_lock(NativeFile file) noexcept;
    static void unlock(NativeFile file) noexcept;
    /// Replaces what has the new name.
    [[nodiscard]] static int rename(NativeFile from, const char* name, NativeFile to, const char* new_name) noexcept;
    /// Gives a file one more name; fails if that is taken.
    [[nodiscard]] static int link(NativeFile from, const char* name, NativeFile to, const char* new_name) noexcept;
    static int remove(NativeFile at, const char* name) noexcept;

    [[nodiscard]] static int status_of(NativeFile file, FileStatus& status) noexcept;
    [[nodiscard]] static int status_at(NativeFile at, const char* name, FileStatus& status) noexcept;
    [[nodiscard]] static NativeFile duplicate(NativeFile file) noexcept;
    /// All names but "." and "..", in any order; what vanishes meanwhile is left out.
    [[nodiscard]] static int list(NativeFile directory, std::vector<DirectoryEntry>& entries);

    /// Whether something has that path.
    [[nodiscard]] static bool exists(const std::string& path) noexcept;
    /// The path as the other functions take it: with '/' between its components, which Windows knows, too.
    [[nodiscard]] static std::string with_slashes(std::string path);
    /// The absolute path of an open directory, given the one that it was opened by; empty if it fails. "" is the root
    /// of a file system of POSIX.
    [[nodiscard]] static std::string absolute_path(NativeFile directory, const std::string& path);

    /// A component of a key as a file's name, and back: Windows refuses some, and takes others for the same; a name
    /// that stands for no component gives "" there. Elsewhere as it is.
    [[nodiscard]] static std::string name_of_component(std::string_view component);
    [[nodiscard]] static std::string component_of_name(std::string_view name);

    [[nodiscard]] static std::int64_t process_id() noexcept;
    [[nodiscard]] static bool is_running(std::int64_t process) noexcept;
};

/// The calls by which a write can fail. Tests put in others; each sets `errno` as the system would.
struct FileOps {
    std::function<NativeFile(NativeFile, const char*, OpenAs)> open = FileSystem::open;
    std::function<NativeFile(NativeFile, const char*)> open_beneath = FileSystem::open_beneath;
    std::function<int(NativeFile, const char*)> make_directory = FileSystem::make_directory;
    std::function<std::int64_t(NativeFile, const void*, std::size_t)> write = FileSystem::write;
    std::function<std::int64_t(NativeFile, void*, std::size_t, std::int64_t)> read_at = FileSystem::read_at;
    std::function<int(NativeFile)> sync_data = FileSystem::sync_data;
    std::function<int(NativeFile)> sync_names = FileSystem::sync_names;
    std::function<int(NativeFile)> close = FileSystem::close;
    std::function<int(NativeFile)> lock = FileSystem::lock;
    std::function<int(NativeFile, const char*, NativeFile, const char*)> rename = FileSystem::rename;
    std::function<int(NativeFile, const char*, NativeFile, const char*)> link = FileSystem::link;
    std::function<int(NativeFile, const char*)> remove = FileSystem::remove;
};

/// `file_storage` on top of `ops`.
[[nodiscard]] std::shared_ptr<Storage> file_storage_on(FileOps ops, std::string_view root,
                                                       const FileStorageOptions& options);

}  // namespace whittle::inline v0
