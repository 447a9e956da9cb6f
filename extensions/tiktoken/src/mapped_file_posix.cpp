#if !defined(_WIN32)

#    include "mapped_file.hpp"

#    include "whittle/base/error.hpp"

#    include <fcntl.h>
#    include <fmt/format.h>
#    include <sys/mman.h>
#    include <sys/stat.h>
#    include <unistd.h>

#    include <cerrno>

namespace whittle::inline v0::bpe {
namespace {

#    ifdef MAP_POPULATE
constexpr int mapping_flags = MAP_SHARED | MAP_POPULATE;
#    else
constexpr int mapping_flags = MAP_SHARED;
#    endif

class Descriptor {
public:
    /// O_NONBLOCK: a FIFO is opened at once, and then refused, instead of waiting for its writer.
    explicit Descriptor(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int get() const noexcept { return fd_; }

private:
    int fd_;
};

[[noreturn]] void fail_to_open(const std::string& path, int error) {
    throw Error(Errc::not_found, fmt::format("open vocabulary {}: {}", path, std::generic_category().message(error)));
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
    const Descriptor file(path);
    if (file.get() < 0) fail_to_open(path, errno);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) fail_to_open(path, errno);
    if (!S_ISREG(status.st_mode) || status.st_size == 0)
        throw Error(Errc::damaged, fmt::format("open vocabulary {}: not a packed vocabulary", path));
    const auto size = static_cast<std::size_t>(status.st_size);
    void* const memory = ::mmap(nullptr, size, PROT_READ, mapping_flags, file.get(), 0);
    if (memory == MAP_FAILED) fail_to_open(path, errno);
    bytes_ = {static_cast<const unsigned char*>(memory), size};
}

MappedFile::~MappedFile() { ::munmap(const_cast<unsigned char*>(bytes_.data()), bytes_.size()); }

}  // namespace whittle::inline v0::bpe

#endif
