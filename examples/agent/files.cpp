#include "files.hpp"

#include <whittle/base/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <fstream>
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
    explicit Descriptor(const fs::path& file)
        : fd_(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {
        if (fd_ < 0) fail(Errc::not_found, "read", file, errno);
    }
    ~Descriptor() { ::close(fd_); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int get() const noexcept { return fd_; }

private:
    int fd_;
};

bool is_hidden_from_walks(const fs::directory_entry& entry) {
    return entry.is_symlink() || entry.path().filename() == ".git";
}

}  // namespace

FilePart read_part(const fs::path& file, std::size_t offset, std::size_t max_bytes) {
    const Descriptor descriptor(file);
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
    const fs::path temporary =
        file.parent_path() / ("." + file.filename().string() + ".agent-" + std::to_string(::getpid()));
    const auto give_up = [&](int error) {
        std::error_code ignored;
        fs::remove(temporary, ignored);
        fail(Errc::storage_failed, "write", file, error);
    };
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    out.close();
    if (!out) give_up(errno);
    std::error_code error;
    if (const fs::file_status old = fs::status(file, error); fs::exists(old))
        fs::permissions(temporary, old.permissions(), error);
    if (!error || !fs::exists(file)) fs::rename(temporary, file, error);
    if (error) give_up(error.value());
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
