// What the tests of the file storage share.
#pragma once

#include "../../src/storage/file_system.hpp"

#include "support/storage_tools.hpp"
#include "support/suite_sizes.hpp"
#include "support/temp_dir.hpp"

#include <cerrno>
#include <fstream>
#include <iterator>

namespace whittle::testing {

inline std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline void overwrite(const std::filesystem::path& path, std::string_view bytes) {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out << bytes;
}

template <typename Action>
std::string error_of(Action&& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The real calls, but nothing waits for the disk.
inline FileOps ops_without_sync() {
    FileOps ops;
    ops.sync_data = [](NativeFile) { return 0; };
    ops.sync_names = ops.sync_data;
    return ops;
}

/// A system without openat2 (ENOSYS), or one that forbids it (EPERM, as seccomp does); 0 for the real call.
inline FileOps ops_without_openat2(int error) {
    FileOps ops = ops_without_sync();
    if (error != 0) {
        ops.open_beneath = [error](NativeFile, const char*) {
            errno = error;
            return -1;
        };
    }
    return ops;
}

inline int temporary_files_below(const std::filesystem::path& root) {
    int found = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
        found += entry.path().filename().string().starts_with(".whittle-tmp-") ? 1 : 0;
    return found;
}

inline void write_streaming(Storage& storage, const std::string& key, const std::string& content) {
    const auto writer = storage.open_writer();
    writer->write(content.substr(0, content.size() / 2));
    writer->write(content.substr(content.size() / 2));
    writer->commit(key);
}

}  // namespace whittle::testing
