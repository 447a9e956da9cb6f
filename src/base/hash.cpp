#include "whittle/base/hash.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace whittle::inline v0 {
namespace {

constexpr std::array<std::uint32_t, 64> round_constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t load_big_endian(const unsigned char* at) noexcept {
    return std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 | std::uint32_t{at[3]};
}

std::array<std::uint32_t, 64> schedule_of(const unsigned char* block) noexcept {
    std::array<std::uint32_t, 64> w;
    for (std::size_t i = 0; i < 16; ++i) w[i] = load_big_endian(block + 4 * i);
    for (std::size_t i = 16; i < 64; ++i) {
        const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
        const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    return w;
}

constexpr std::uint64_t c1 = 0x87c37b91114253d5U;
constexpr std::uint64_t c2 = 0x4cf5ad432745937fU;

/// Little-endian, of up to 8 bytes.
std::uint64_t load(const char* at, std::size_t size) noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value |= std::uint64_t{static_cast<unsigned char>(at[i])} << (8 * i);
    return value;
}

std::uint64_t load8(const char* at) noexcept {
    if constexpr (std::endian::native == std::endian::little) {
        std::uint64_t value;
        std::memcpy(&value, at, sizeof value);
        return value;
    } else {
        return load(at, 8);
    }
}

std::uint64_t mix_low(std::uint64_t k) noexcept { return std::rotl(k * c1, 31) * c2; }
std::uint64_t mix_high(std::uint64_t k) noexcept { return std::rotl(k * c2, 33) * c1; }

std::uint64_t finish(std::uint64_t k) noexcept {
    k = (k ^ (k >> 33)) * 0xff51afd7ed558ccdU;
    k = (k ^ (k >> 33)) * 0xc4ceb9fe1a85ec53U;
    return k ^ (k >> 33);
}

}  // namespace

Sha256::Sha256() noexcept
    : state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

void Sha256::compress(const unsigned char* block) noexcept {
    const std::array<std::uint32_t, 64> w = schedule_of(block);
    auto [a, b, c, d, e, f, g, h] = state_;
    for (std::size_t i = 0; i < 64; ++i) {
        const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + round_constants[i] + w[i];
        const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    const std::array<std::uint32_t, 8> added{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state_.size(); ++i) state_[i] += added[i];
}

void Sha256::update(std::string_view bytes) noexcept {
    total_bytes_ += bytes.size();
    while (!bytes.empty()) {
        if (block_size_ == 0 && bytes.size() >= block_.size()) {
            compress(reinterpret_cast<const unsigned char*>(bytes.data()));
            bytes.remove_prefix(block_.size());
            continue;
        }
        const std::size_t taken = std::min(bytes.size(), block_.size() - block_size_);
        std::memcpy(block_.data() + block_size_, bytes.data(), taken);
        block_size_ += taken;
        bytes.remove_prefix(taken);
        if (block_size_ == block_.size()) {
            compress(block_.data());
            block_size_ = 0;
        }
    }
}

std::string Sha256::hex_digest() {
    constexpr std::string_view digits = "0123456789abcdef";
    const std::uint64_t bits = total_bytes_ * 8;
    const std::string padding(1 + (119 - block_size_) % 64, '\0');
    update("\x80" + padding.substr(1));
    for (int shift = 56; shift >= 0; shift -= 8) {
        const char byte = static_cast<char>(bits >> shift & 0xff);
        update({&byte, 1});
    }
    std::string hex;
    for (const std::uint32_t word : state_) {
        for (int shift = 28; shift >= 0; shift -= 4) hex += digits[word >> shift & 0xf];
    }
    return hex;
}

std::string sha256_hex(std::string_view bytes) {
    Sha256 hash;
    hash.update(bytes);
    return hash.hex_digest();
}

Hash128 hash128(std::string_view bytes, Hash128 seed) noexcept {
    std::uint64_t h1 = seed.low;
    std::uint64_t h2 = seed.high;
    const std::size_t whole = bytes.size() / 16 * 16;
    for (std::size_t i = 0; i < whole; i += 16) {
        h1 = (std::rotl(h1 ^ mix_low(load8(bytes.data() + i)), 27) + h2) * 5 + 0x52dce729U;
        h2 = (std::rotl(h2 ^ mix_high(load8(bytes.data() + i + 8)), 31) + h1) * 5 + 0x38495ab5U;
    }
    const std::string_view tail = bytes.substr(whole);
    h1 ^= mix_low(load(tail.data(), std::min<std::size_t>(tail.size(), 8)));
    if (tail.size() > 8) h2 ^= mix_high(load(tail.data() + 8, tail.size() - 8));

    h1 ^= bytes.size();
    h2 ^= bytes.size();
    h1 += h2;
    h2 += h1;
    h1 = finish(h1);
    h2 = finish(h2);
    h1 += h2;
    h2 += h1;
    return {h1, h2};
}

}  // namespace whittle::inline v0
