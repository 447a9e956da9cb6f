#pragma once

#include "whittle/base/version.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// SHA-256 (FIPS 180-4), fed in pieces. Names stored objects and media by their content.
class Sha256 {
public:
    /// Ready for the first bytes.
    Sha256() noexcept;
    /// Feeds the next bytes.
    void update(std::string_view bytes) noexcept;
    /// 64 lower-case hex digits. The object must not be fed after that.
    [[nodiscard]] std::string hex_digest();

private:
    void compress(const unsigned char* block) noexcept;

    std::array<std::uint32_t, 8> state_;
    std::array<unsigned char, 64> block_{};
    std::size_t block_size_ = 0;
    std::uint64_t total_bytes_ = 0;
};

/// SHA-256 of `bytes`, as 64 lower-case hex digits.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

/// A fast 128-bit fingerprint of a message or of a tool list. Not for hostile input where a collision would do harm:
/// whoever replaces something because of it compares the bytes first.
struct Hash128 {
    std::uint64_t low = 0;   ///< the first 64 bits of the hash
    std::uint64_t high = 0;  ///< the other 64

    friend bool operator==(const Hash128&, const Hash128&) = default;
};

/// MurmurHash3 x64 128 (Austin Appleby, public domain) of `bytes`, seeded with `seed`: chain calls to hash a sequence.
[[nodiscard]] Hash128 hash128(std::string_view bytes, Hash128 seed = {}) noexcept;

}  // namespace whittle::inline v0
