#pragma once

#include "input_limits.hpp"
#include "unpacker.hpp"

#include <cstdint>
#include <istream>
#include <memory>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::cli {

/// Reads a file, or standard input for "-"; gzip and zstd data is unpacked, whatever its name. Errors name the file.
class InputBuffer final : public std::streambuf {
public:
    /// Throws Error(not_found) with the system's reason.
    explicit InputBuffer(const std::string& path, const InputLimits& limits = {});
    ~InputBuffer() override;
    InputBuffer(const InputBuffer&) = delete;
    InputBuffer& operator=(const InputBuffer&) = delete;

    /// The path, or "stdin".
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    static constexpr std::size_t block_size = 1U << 16U;

    /// The first bytes, unpacked, which are still to be read: so many, or all there are. Before anything was read; may
    /// be asked again for more. Throws what reading throws.
    [[nodiscard]] std::string_view start(std::size_t bytes = block_size);
    /// Bytes that were taken from the file, packed as they are, and how many it has; 0: it is no regular file.
    [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }
    [[nodiscard]] std::uint64_t file_bytes() const noexcept { return file_bytes_; }

protected:
    /// Throws Error(parse_failed) for packed data that is broken or grows above the ratio, Error(storage_failed) for a
    /// failed read, and `Interrupted`.
    int_type underflow() override;

private:
    std::size_t read_some(char* to, std::size_t size);
    std::size_t read_unpacked(char* to, std::size_t size);
    void look_at_start();
    void unpack(std::string start);

    std::string name_;
    InputLimits limits_;
    int file_;
    std::uint64_t file_bytes_;
    std::uint64_t bytes_read_ = 0;
    std::vector<char> buffer_;
    std::unique_ptr<Unpacker> unpacker_;
    bool is_started_ = false;
};

/// The whole of a file, unpacked. Throws Error(parse_failed) above the limits.
[[nodiscard]] std::string read_all(const std::string& path, const InputLimits& limits = {});

}  // namespace whittle::cli
