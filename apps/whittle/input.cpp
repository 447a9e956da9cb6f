#include "input.hpp"

#include "interrupt.hpp"
#include "whittle/base/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#if WHITTLE_HAVE_ZLIB
#    include <zlib.h>
#endif

namespace whittle::cli {
namespace {

constexpr std::size_t block_size = 1U << 16U;

std::string reason_of(int error) { return std::generic_category().message(error); }

[[noreturn]] void fail_to_open(const std::string& path, int error) {
    throw Error(Errc::not_found, fmt::format("read {}: {}", path, reason_of(error)));
}

int open_input(const std::string& path) {
    if (path == "-") return STDIN_FILENO;
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        const int error = errno;
        throw_if_interrupted();  // a pipe waits for its writer
        fail_to_open(path, error);
    }
    struct stat info {};
    if (::fstat(file, &info) == 0 && S_ISDIR(info.st_mode)) {
        ::close(file);
        fail_to_open(path, EISDIR);
    }
    return file;
}

}  // namespace

#if WHITTLE_HAVE_ZLIB

class InputBuffer::Unpacker {
public:
    explicit Unpacker(InputBuffer& input, std::string start)
        : input_(input), packed_(std::move(start)), read_(packed_.size()) {
        stream_.next_in = reinterpret_cast<Bytef*>(packed_.data());
        stream_.avail_in = static_cast<uInt>(packed_.size());
        if (inflateInit2(&stream_, MAX_WBITS + 16) != Z_OK) throw std::bad_alloc();
    }
    ~Unpacker() { inflateEnd(&stream_); }
    Unpacker(const Unpacker&) = delete;
    Unpacker& operator=(const Unpacker&) = delete;

    std::size_t read(char* to, std::size_t size) {
        stream_.next_out = reinterpret_cast<Bytef*>(to);
        stream_.avail_out = static_cast<uInt>(size);
        while (stream_.avail_out == size) {
            if (stream_.avail_in == 0 && !refill()) return 0;
            step();
        }
        unpacked_ += size - stream_.avail_out;
        check_ratio();
        return size - stream_.avail_out;
    }

private:
    void check_ratio() {
        const InputLimits& limits = input_.limits_;
        if (limits.max_ratio == 0 || unpacked_ <= InputLimits::free_bytes) return;
        if (unpacked_ / limits.max_ratio <= read_ - stream_.avail_in) return;
        throw Error(Errc::parse_failed,
                    fmt::format("{}: expected gzip data that becomes at most {} times as large, found more: if it is "
                                "what it should be, say so with --max-ratio",
                                input_.name(), limits.max_ratio));
    }

    bool refill() {
        packed_.resize(block_size);
        packed_.resize(input_.read_some(packed_.data(), packed_.size()));
        if (packed_.empty() && is_inside_) fail("expected more gzip data, found the end");
        stream_.next_in = reinterpret_cast<Bytef*>(packed_.data());
        stream_.avail_in = static_cast<uInt>(packed_.size());
        read_ += packed_.size();
        return !packed_.empty();
    }

    void step() {
        const int result = inflate(&stream_, Z_NO_FLUSH);
        is_inside_ = result != Z_STREAM_END;
        if (result == Z_STREAM_END) inflateReset(&stream_);  // members may follow each other
        if (result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR) return;
        fail(fmt::format("expected gzip data, found {}", stream_.msg == nullptr ? "something else" : stream_.msg));
    }

    [[noreturn]] void fail(const std::string& text) {
        throw Error(Errc::parse_failed, fmt::format("{}: packed byte {}: {}", input_.name(), stream_.total_in, text));
    }

    InputBuffer& input_;
    std::string packed_;
    std::uint64_t read_;  // packed bytes, also those in `packed_`
    std::uint64_t unpacked_ = 0;
    z_stream stream_{};
    bool is_inside_ = true;
};

#else

class InputBuffer::Unpacker {
public:
    Unpacker(InputBuffer& input, const std::string&) {
        throw Error(Errc::not_offered,
                    fmt::format("read {}: it is gzip data, and this program was built without zlib: unpack it first "
                                "(gzip -dc FILE | whittle ... -)",
                                input.name()));
    }
    std::size_t read(char*, std::size_t) { return 0; }
};

#endif

InputBuffer::InputBuffer(const std::string& path, const InputLimits& limits)
    : name_(path == "-" ? "stdin" : path), limits_(limits), file_(open_input(path)), buffer_(block_size) {}

InputBuffer::~InputBuffer() {
    if (file_ != STDIN_FILENO) ::close(file_);
}

std::size_t InputBuffer::read_some(char* to, std::size_t size) {
    while (true) {
        throw_if_interrupted();
        const ssize_t got = ::read(file_, to, size);
        if (got >= 0) return static_cast<std::size_t>(got);
        if (errno != EINTR) throw Error(Errc::storage_failed, fmt::format("read {}: {}", name_, reason_of(errno)));
    }
}

void InputBuffer::look_at_start() {
    std::string start(block_size, '\0');
    std::size_t size = 0;
    while (size < 2) {
        const std::size_t got = read_some(start.data() + size, start.size() - size);
        if (got == 0) break;
        size += got;
    }
    start.resize(size);
    if (start.starts_with("\x1F\x8B")) {
        unpacker_ = std::make_unique<Unpacker>(*this, std::move(start));
        return;
    }
    std::copy(start.begin(), start.end(), buffer_.begin());
    setg(buffer_.data(), buffer_.data(), buffer_.data() + size);
}

std::size_t InputBuffer::read_unpacked(char* to, std::size_t size) {
    return unpacker_ ? unpacker_->read(to, size) : read_some(to, size);
}

std::string_view InputBuffer::start() {
    if (traits_type::eq_int_type(sgetc(), traits_type::eof())) return {};
    std::size_t size = static_cast<std::size_t>(egptr() - eback());
    while (size < buffer_.size()) {
        const std::size_t got = read_unpacked(buffer_.data() + size, buffer_.size() - size);
        if (got == 0) break;
        size += got;
    }
    setg(buffer_.data(), buffer_.data(), buffer_.data() + size);
    return {buffer_.data(), size};
}

InputBuffer::int_type InputBuffer::underflow() {
    if (!is_started_) {
        is_started_ = true;
        look_at_start();
        if (gptr() != egptr()) return traits_type::to_int_type(*gptr());
    }
    const std::size_t got = read_unpacked(buffer_.data(), buffer_.size());
    setg(buffer_.data(), buffer_.data(), buffer_.data() + got);
    return got == 0 ? traits_type::eof() : traits_type::to_int_type(*gptr());
}

std::string read_all(const std::string& path, const InputLimits& limits) {
    InputBuffer buffer(path, limits);
    std::string text;
    std::vector<char> block(block_size);
    while (true) {
        const std::streamsize got = buffer.sgetn(block.data(), static_cast<std::streamsize>(block.size()));
        if (got <= 0) return text;
        text.append(block.data(), static_cast<std::size_t>(got));
        if (limits.max_bytes == 0 || text.size() <= limits.max_bytes) continue;
        throw Error(Errc::parse_failed, fmt::format("{}: expected at most {} bytes, found more: --max-input takes more",
                                                    buffer.name(), limits.max_bytes));
    }
}

}  // namespace whittle::cli
