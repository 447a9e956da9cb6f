#include "files.hpp"

#include <whittle/base/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <random>
#include <system_error>
#include <vector>

namespace agent {
namespace {

namespace fs = std::filesystem;
using whittle::Errc;
using whittle::Error;

[[noreturn]] void fail(Errc code, std::string_view what, const fs::path& file, int error) {
    throw Error(code, std::string(what) + " \"" + file.string() + "\": " + std::generic_category().message(error));
}

class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int get() const noexcept { return fd_; }

private:
    int fd_;
};

bool is_hidden_from_walks(const fs::directory_entry& entry) {
    return entry.is_symlink() || entry.path().filename() == ".git";
}

/// A new file, of a name that nobody can know before: never one that is there, nor where a link leads.
int create_temporary(const fs::path& file, fs::path& temporary) {
    std::random_device random;
    for (int tries = 0; tries < 100; ++tries) {
        const std::string end = std::to_string(random()) + std::to_string(random());
        temporary = file.parent_path() / ("." + file.filename().string() + ".agent-" + end);
        const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd >= 0) return fd;
        if (errno != EEXIST && errno != EINTR) break;
    }
    fail(Errc::storage_failed, "write", file, errno);
}

void write_all(int fd, const fs::path& file, std::string_view content) {
    while (!content.empty()) {
        const ssize_t put = ::write(fd, content.data(), content.size());
        if (put < 0 && errno != EINTR) fail(Errc::storage_failed, "write", file, errno);
        if (put > 0) content.remove_prefix(static_cast<std::size_t>(put));
    }
}

}  // namespace

FilePart read_part(const fs::path& file, std::size_t offset, std::size_t max_bytes) {
    const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (descriptor.get() < 0) fail(Errc::not_found, "read", file, errno);
    struct stat info {};
    if (::fstat(descriptor.get(), &info) != 0) fail(Errc::not_found, "read", file, errno);
    if (!S_ISREG(info.st_mode)) fail(Errc::invalid_argument, "read", file, EINVAL);
    FilePart part{.text = {}, .file_bytes = static_cast<std::size_t>(info.st_size)};
    if (offset >= part.file_bytes) return part;
    part.text.resize(std::min(max_bytes, part.file_bytes - offset));
    std::size_t done = 0;
    while (done < part.text.size()) {
        const auto at = static_cast<off_t>(offset + done);
        const ssize_t got = ::pread(descriptor.get(), part.text.data() + done, part.text.size() - done, at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail(Errc::storage_failed, "read", file, errno);
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    part.text.resize(done);
    return part;
}

void write_whole(const fs::path& file, std::string_view content) {
    fs::path temporary;
    const Descriptor descriptor(create_temporary(file, temporary));
    try {
        write_all(descriptor.get(), file, content);
        struct stat old {};
        const bool has_mode = ::stat(file.c_str(), &old) == 0;
        if (has_mode && ::fchmod(descriptor.get(), old.st_mode & 07777) != 0)
            fail(Errc::storage_failed, "write", file, errno);
        if (::rename(temporary.c_str(), file.c_str()) != 0) fail(Errc::storage_failed, "write", file, errno);
    } catch (...) {
        ::unlink(temporary.c_str());
        throw;
    }
}

void walk_files(const fs::path& directory, const std::function<bool(const fs::path&)>& visit) {
    if (fs::is_regular_file(directory)) return void(visit(directory));
    std::vector<fs::path> files;
    const auto options = fs::directory_options::skip_permission_denied;
    for (fs::recursive_directory_iterator at(directory, options), end; at != end; ++at) {
        if (is_hidden_from_walks(*at)) {
            at.disable_recursion_pending();
        } else if (at->is_regular_file()) {
            files.push_back(at->path());
        }
    }
    std::ranges::sort(files);
    for (const fs::path& file : files) {
        if (!visit(file)) return;
    }
}

}  // namespace agent
