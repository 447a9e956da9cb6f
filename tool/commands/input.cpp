#include "input.hpp"

#include "interrupt.hpp"
#include "system.hpp"
#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace whittle::cli {
namespace {

constexpr std::string_view gzip_start = "\x1F\x8B";
constexpr std::string_view zstd_start = "\x28\xB5\x2F\xFD";

std::string reason_of(int error) { return std::generic_category().message(error); }

[[noreturn]] void fail_to_open(const std::string& path, int error) {
    throw Error(Errc::not_found, fmt::format("read {}: {}", path, reason_of(error)));
}

int open_input(const std::string& path) {
    if (path == "-") return system::standard_input;
    const int file = system::open_to_read(path);
    if (file >= 0) return file;
    const int error = errno;
    throw_if_interrupted();  // a pipe waits for its writer
    fail_to_open(path, error);
}

}  // namespace

InputBuffer::InputBuffer(const std::string& path, const InputLimits& limits)
    : name_(path == "-" ? "stdin" : path),
      limits_(limits),
      file_(open_input(path)),
      file_bytes_(system::size_of(file_)),
      buffer_(block_size) {}

InputBuffer::~InputBuffer() {
    if (file_ != system::standard_input) system::close(file_);
}

std::size_t InputBuffer::read_some(char* to, std::size_t size) {
    while (true) {
        throw_if_interrupted();
        const std::int64_t got = system::read(file_, to, size);
        if (got >= 0) {
            bytes_read_ += static_cast<std::size_t>(got);
            return static_cast<std::size_t>(got);
        }
        if (errno != EINTR) throw Error(Errc::storage_failed, fmt::format("read {}: {}", name_, reason_of(errno)));
    }
}

void InputBuffer::look_at_start() {
    std::string start(block_size, '\0');
    std::size_t size = 0;
    while (size < zstd_start.size()) {
        const std::size_t got = read_some(start.data() + size, start.size() - size);
        if (got == 0) break;
        size += got;
    }
    start.resize(size);
    if (start.starts_with(gzip_start) || start.starts_with(zstd_start)) return unpack(std::move(start));
    std::copy(start.begin(), start.end(), buffer_.begin());
    setg(buffer_.data(), buffer_.data(), buffer_.data() + size);
}

std::size_t InputBuffer::read_unpacked(char* to, std::size_t size) {
    return unpacker_ ? unpacker_->read(to, size) : read_some(to, size);
}

std::string_view InputBuffer::start(std::size_t bytes) {
    if (traits_type::eq_int_type(sgetc(), traits_type::eof())) return {};
    std::size_t size = static_cast<std::size_t>(egptr() - eback());
    buffer_.resize(std::max(buffer_.size(), bytes));
    while (size < bytes) {
        const std::size_t got = read_unpacked(buffer_.data() + size, bytes - size);
        if (got == 0) break;
        size += got;
    }
    setg(buffer_.data(), buffer_.data(), buffer_.data() + size);
    return {buffer_.data(), size};
}

void InputBuffer::unpack(std::string start) {
    const bool is_zstd = start.starts_with(zstd_start);
    PackedInput packed(name_, is_zstd ? "zstd" : "gzip", std::move(start), limits_,
                       [this](char* to, std::size_t size) { return read_some(to, size); });
    unpacker_ = is_zstd ? unpack_zstd(std::move(packed), name_) : unpack_gzip(std::move(packed), name_);
}

InputBuffer::int_type InputBuffer::underflow() {
    if (!is_started_) {
        is_started_ = true;
        look_at_start();
        if (gptr() != egptr()) return traits_type::to_int_type(*gptr());
    }
    const std::size_t got = read_unpacked(buffer_.data(), block_size);
    setg(buffer_.data(), buffer_.data(), buffer_.data() + got);
    return got == 0 ? traits_type::eof() : traits_type::to_int_type(*gptr());
}

std::string read_all(const std::string& path, const InputLimits& limits) {
    InputBuffer buffer(path, limits);
    std::string text;
    std::vector<char> block(InputBuffer::block_size);
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
