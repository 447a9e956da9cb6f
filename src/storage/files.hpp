#pragma once

#include "file_system.hpp"
#include "whittle/base/hash.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0 {

/// What is being done, for error texts: `put "key": ...`.
struct FileAttempt {
    std::string_view verb{};
    std::string_view key{};

    /// Throws Error(storage_failed).
    [[noreturn]] void fail(std::string_view reason) const;
    /// Throws Error(storage_failed) with the system's text for `error`, an errno.
    [[noreturn]] void fail(std::string_view step, int error) const;
};

/// Owns an open file. Its destructor ignores errors of `close`: whoever wrote closes with a check.
class OpenFile {
public:
    explicit OpenFile(NativeFile file = no_file) noexcept : file_(file) {}
    OpenFile(OpenFile&& other) noexcept : file_(std::exchange(other.file_, no_file)) {}
    OpenFile& operator=(OpenFile&& other) noexcept;
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    ~OpenFile();

    [[nodiscard]] NativeFile get() const noexcept { return file_; }
    [[nodiscard]] NativeFile release() noexcept { return std::exchange(file_, no_file); }
    [[nodiscard]] explicit operator bool() const noexcept { return file_ != no_file; }

private:
    NativeFile file_;
};

/// Duplicates an open file for a caller that wants to own one.
[[nodiscard]] OpenFile duplicate(const FileAttempt& attempt, NativeFile file);

[[nodiscard]] FileStatus status_of(const FileAttempt& attempt, NativeFile file);

/// Opens the directory `name` in `parent`, never through a symbolic link. An empty file if there is none; throws if
/// what is there is no directory of ours. A regular file counts as nothing there unless `must_exist`.
[[nodiscard]] OpenFile open_directory(const FileOps& ops, const FileAttempt& attempt, NativeFile parent,
                                      const std::string& name, bool must_exist);

/// Opens the directory `name` in `parent`, never through a symbolic link; creates it if absent.
[[nodiscard]] OpenFile open_or_create_directory(const FileOps& ops, const FileAttempt& attempt, NativeFile parent,
                                                const std::string& name);

/// Opens the regular file `name` for reading. An empty file if there is none; throws if it is anything else or not
/// ours.
[[nodiscard]] OpenFile open_object(const FileOps& ops, const FileAttempt& attempt, NativeFile parent,
                                   const std::string& name);

[[nodiscard]] std::int64_t length_of(const FileAttempt& attempt, NativeFile file);

/// Bytes from `offset`; fewer than `bytes` only at the end of the file.
[[nodiscard]] std::string read_at(const FileOps& ops, const FileAttempt& attempt, NativeFile file, std::int64_t offset,
                                  std::int64_t bytes);

/// SHA-256 of the whole file, with bounded memory.
[[nodiscard]] std::string hash_of_file(const FileOps& ops, const FileAttempt& attempt, NativeFile file);

/// Whether both are of one file.
[[nodiscard]] bool is_same_file(const FileAttempt& attempt, NativeFile a, NativeFile b);

}  // namespace whittle::inline v0
