#include "files.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace whittle::inline v0 {
namespace {

constexpr std::int64_t read_block = 256 * 1024;

/// What stands under `name` where a directory or an object of ours should be.
std::string_view what_is_at(NativeFile parent, const std::string& name) {
    FileStatus status;
    return FileSystem::status_at(parent, name.c_str(), status) == 0 ? status.kind : "nothing";
}

bool is_regular(NativeFile parent, const std::string& name) {
    FileStatus status;
    return FileSystem::status_at(parent, name.c_str(), status) == 0 && status.is_regular;
}

OpenFile open_at(const FileOps& ops, NativeFile parent, const std::string& name, OpenAs how) {
    for (;;) {
        OpenFile file(ops.open(parent, name.c_str(), how));
        if (file || errno != EINTR) return file;
    }
}

}  // namespace

void FileAttempt::fail(std::string_view reason) const {
    throw Error(Errc::storage_failed, fmt::format("{} \"{}\": {}", verb, key, reason));
}

void FileAttempt::fail(std::string_view step, int error) const {
    fail(fmt::format("{}: {}", step, std::error_code(error, std::generic_category()).message()));
}

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
    if (this != &other) {
        const OpenFile old(file_);
        file_ = other.release();
    }
    return *this;
}

OpenFile::~OpenFile() {
    if (file_ != no_file) FileSystem::close(file_);
}

FileStatus status_of(const FileAttempt& attempt, NativeFile file) {
    FileStatus status;
    if (FileSystem::status_of(file, status) != 0) attempt.fail("stat", errno);
    return status;
}

OpenFile duplicate(const FileAttempt& attempt, NativeFile file) {
    OpenFile copy(FileSystem::duplicate(file));
    if (!copy) attempt.fail("dup", errno);
    return copy;
}

OpenFile open_directory(const FileOps& ops, const FileAttempt& attempt, NativeFile parent, const std::string& name,
                        bool must_exist) {
    OpenFile directory = open_at(ops, parent, name, OpenAs::directory);
    if (!directory) {
        const int error = errno;
        if (error == ENOENT || error == ENAMETOOLONG) return directory;
        if (error != ENOTDIR && error != ELOOP) attempt.fail(fmt::format("open directory \"{}\"", name), error);
        if (!must_exist && is_regular(parent, name)) return directory;
        attempt.fail(fmt::format("\"{}\" is {}, not a directory", name, what_is_at(parent, name)));
    }
    const std::string_view distrust = status_of(attempt, directory.get()).distrust;
    if (!distrust.empty()) attempt.fail(fmt::format("directory \"{}\" {}", name, distrust));
    return directory;
}

OpenFile open_or_create_directory(const FileOps& ops, const FileAttempt& attempt, NativeFile parent,
                                  const std::string& name) {
    OpenFile directory = open_directory(ops, attempt, parent, name, true);
    if (directory) return directory;
    if (ops.make_directory(parent, name.c_str()) != 0 && errno != EEXIST)
        attempt.fail(fmt::format("create directory \"{}\"", name), errno);
    directory = open_directory(ops, attempt, parent, name, true);
    if (!directory) attempt.fail(fmt::format("directory \"{}\" vanished", name));
    return directory;
}

OpenFile open_object(const FileOps& ops, const FileAttempt& attempt, NativeFile parent, const std::string& name) {
    OpenFile file = open_at(ops, parent, name, OpenAs::reading);
    if (!file) {
        const int error = errno;
        if (error == ENOENT || error == ENAMETOOLONG) return file;
        if (error == ELOOP || error == ENXIO)
            attempt.fail(fmt::format("\"{}\" is {}, not a regular file", name, what_is_at(parent, name)));
        attempt.fail(fmt::format("open \"{}\"", name), error);
    }
    const FileStatus status = status_of(attempt, file.get());
    if (!status.is_regular) attempt.fail(fmt::format("\"{}\" is {}, not a regular file", name, status.kind));
    if (!status.is_ours) attempt.fail(fmt::format("\"{}\" belongs to another user", name));
    return file;
}

std::int64_t length_of(const FileAttempt& attempt, NativeFile file) { return status_of(attempt, file).bytes; }

std::string read_at(const FileOps& ops, const FileAttempt& attempt, NativeFile file, std::int64_t offset,
                    std::int64_t bytes) {
    std::string out(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0)), '\0');
    std::size_t done = 0;
    while (done < out.size()) {
        const std::int64_t got =
            ops.read_at(file, out.data() + done, out.size() - done, offset + static_cast<std::int64_t>(done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) attempt.fail("read", errno);
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    out.resize(done);
    return out;
}

std::string hash_of_file(const FileOps& ops, const FileAttempt& attempt, NativeFile file) {
    Sha256 hash;
    std::int64_t offset = 0;
    for (;;) {
        const std::string block = read_at(ops, attempt, file, offset, read_block);
        hash.update(block);
        offset += static_cast<std::int64_t>(block.size());
        if (static_cast<std::int64_t>(block.size()) < read_block) return hash.hex_digest();
    }
}

bool is_same_file(const FileAttempt& attempt, NativeFile a, NativeFile b) {
    return status_of(attempt, a).id == status_of(attempt, b).id;
}

}  // namespace whittle::inline v0
