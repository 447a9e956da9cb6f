#pragma once

#include "input_limits.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace whittle::cli {

/// Packed bytes, as an unpacker takes them.
class PackedInput {
public:
    /// `start`: those that were read already. `read` gives more, 0 at the end; what it throws gets out. `form`: for
    /// error texts, such as "gzip".
    PackedInput(std::string name, std::string_view form, std::string start, const InputLimits& limits,
                std::function<std::size_t(char* to, std::size_t size)> read);

    /// The next bytes; empty at the end.
    [[nodiscard]] std::string_view next();
    /// Of the bytes of `next`, so many are still to be unpacked. Throws Error(parse_failed) above the ratio.
    void count_unpacked(std::size_t bytes, std::size_t packed_left);
    [[noreturn]] void fail(std::size_t packed_left, std::string_view found) const;

private:
    std::string name_;
    std::string form_;
    InputLimits limits_;
    std::function<std::size_t(char*, std::size_t)> read_some_;
    std::string bytes_;
    bool is_start_ = true;
    std::uint64_t read_;  // packed bytes, also those in `bytes_`
    std::uint64_t unpacked_ = 0;
};

class Unpacker {
public:
    virtual ~Unpacker() = default;
    /// 0 at the end. Throws Error(parse_failed) for data that is broken or grows above the ratio.
    virtual std::size_t read(char* to, std::size_t size) = 0;
};

/// Throws Error(not_offered) where the program was built without zlib.
[[nodiscard]] std::unique_ptr<Unpacker> unpack_gzip(PackedInput input, const std::string& name);
/// Throws Error(not_offered) where the program was built without libzstd.
[[nodiscard]] std::unique_ptr<Unpacker> unpack_zstd(PackedInput input, const std::string& name);

}  // namespace whittle::cli
