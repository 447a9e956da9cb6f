#include "whittle/base/hash.hpp"

#include "sha256_block.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace whittle::inline v0 {
namespace {

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

void compress_sha256(std::uint32_t* state, const unsigned char* block) noexcept {
    const std::array<std::uint32_t, 64> w = schedule_of(block);
    std::array<std::uint32_t, 8> mixed;
    std::copy_n(state, mixed.size(), mixed.begin());
    auto& [a, b, c, d, e, f, g, h] = mixed;
    for (std::size_t i = 0; i < 64; ++i) {
        const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + sha256_rounds[i] + w[i];
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
    for (std::size_t i = 0; i < mixed.size(); ++i) state[i] += mixed[i];
}

void Sha256::compress(const unsigned char* block) noexcept {
    if (has_sha256_instructions()) return compress_sha256_x86(state_.data(), block);
    compress_sha256(state_.data(), block);
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
