#pragma once

#include <istream>
#include <memory>
#include <streambuf>
#include <string>
#include <vector>

namespace whittle::cli {

/// Reads a file, or standard input for "-"; gzip data is unpacked, whatever its name. Errors name the file.
class InputBuffer final : public std::streambuf {
public:
    /// Throws Error(not_found) with the system's reason.
    explicit InputBuffer(const std::string& path);
    ~InputBuffer() override;
    InputBuffer(const InputBuffer&) = delete;
    InputBuffer& operator=(const InputBuffer&) = delete;

    /// The path, or "stdin".
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

protected:
    /// Throws Error(parse_failed) for broken gzip data, Error(storage_failed) for a failed read, and `Interrupted`.
    int_type underflow() override;

private:
    class Unpacker;

    std::size_t read_some(char* to, std::size_t size);
    void look_at_start();

    std::string name_;
    int file_;
    std::vector<char> buffer_;
    std::unique_ptr<Unpacker> unpacker_;
    bool is_started_ = false;
};

/// The whole of a file, unpacked.
[[nodiscard]] std::string read_all(const std::string& path);

}  // namespace whittle::cli
