#include "output.hpp"

#include "interrupt.hpp"
#include "whittle/base/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#if WHITTLE_HAVE_ZLIB
#    include <zlib.h>
#endif

namespace whittle::cli {
namespace {

std::string behind_links(const std::string& path) {
    std::error_code error;
    const auto resolved = std::filesystem::weakly_canonical(path, error);
    return error ? path : resolved.string();
}

/// True for a pipe, a terminal, /dev/null: nothing that could be replaced by renaming.
bool is_special(const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

}  // namespace

#if WHITTLE_HAVE_ZLIB

class OutputFile::Packer {
public:
    explicit Packer(OutputFile& out) : out_(out) {
        if (deflateInit2(&stream_, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
            throw std::bad_alloc();
    }
    ~Packer() { deflateEnd(&stream_); }
    Packer(const Packer&) = delete;
    Packer& operator=(const Packer&) = delete;

    void write(std::string_view bytes) { pump(bytes, Z_NO_FLUSH); }
    void finish() { pump({}, Z_FINISH); }

private:
    void pump(std::string_view bytes, int flush) {
        std::array<char, 65'536> packed{};
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
        stream_.avail_in = static_cast<uInt>(bytes.size());
        do {
            stream_.next_out = reinterpret_cast<Bytef*>(packed.data());
            stream_.avail_out = static_cast<uInt>(packed.size());
            deflate(&stream_, flush);
            out_.write_plain({packed.data(), packed.size() - stream_.avail_out});
        } while (stream_.avail_out == 0);
    }

    OutputFile& out_;
    z_stream stream_{};
};

#else

class OutputFile::Packer {
public:
    explicit Packer(OutputFile& out) {
        throw Error(Errc::not_offered,
                    fmt::format("write {}: this program was built without zlib: leave out .gz", out.path_));
    }
    void write(std::string_view) {}
    void finish() {}
};

#endif

OutputFile::OutputFile(std::string path) : path_(std::move(path)), target_(path_ == "-" ? path_ : behind_links(path_)) {
    if (path_.ends_with(".gz")) packer_ = std::make_unique<Packer>(*this);
    if (path_ == "-") {
        file_ = STDOUT_FILENO;
    } else if (is_special(target_)) {
        file_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
        if (file_ < 0) fail(errno);
    } else {
        open_beside();
    }
}

OutputFile::~OutputFile() {
    close_file();
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::open_beside() {
    const std::filesystem::path target(target_);
    for (int number = 0; file_ < 0; ++number) {
        const auto name = fmt::format(".{}.{}-{}.tmp", target.filename().string(), ::getpid(), number);
        const std::string beside = (target.parent_path() / name).string();
        file_ = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file_ >= 0) temporary_ = beside;
        if (file_ < 0 && errno != EEXIST) fail(errno);
    }
}

void OutputFile::close_file() noexcept {
    if (file_ >= 0 && file_ != STDOUT_FILENO) ::close(file_);
    file_ = -1;
}

void OutputFile::fail(int error) const {
    throw Error(Errc::storage_failed, fmt::format("write {}: {}", path_, std::generic_category().message(error)));
}

void OutputFile::write(std::string_view bytes) {
    if (bytes.empty()) return;
    packer_ ? packer_->write(bytes) : write_plain(bytes);
}

void OutputFile::write_plain(std::string_view bytes) {
    while (!bytes.empty()) {
        throw_if_interrupted();
        const ssize_t put = ::write(file_, bytes.data(), bytes.size());
        if (put < 0 && errno != EINTR) fail(errno);
        if (put > 0) bytes.remove_prefix(static_cast<std::size_t>(put));
    }
}

void OutputFile::commit() {
    if (packer_) packer_->finish();
    if (temporary_.empty()) return close_file();
    struct stat old {};
    if (::stat(target_.c_str(), &old) == 0) (void)::fchmod(file_, old.st_mode & 07777U);
    close_file();
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
    temporary_.clear();
}

void print(std::string_view text) {
    OutputFile out("-");
    out.write(text);
}

void complain(std::string_view text) noexcept {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

}  // namespace whittle::cli
