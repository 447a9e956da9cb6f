#pragma once

#include "bpe_tables.hpp"

#include <atomic>
#include <memory>

namespace whittle::inline v0::bpe {

/// Remembers how many tokens pieces of at most 15 bytes have. Any number of threads may look up and remember: an entry
/// is two words, written one by one, and the first is masked with a hash of the second, so that words of two different
/// entries are not taken for one (but with a chance of 2^-64, in the nanosecond of a collision).
class PieceCache {
public:
    static constexpr std::size_t longest_piece = 15;

    struct Key {
        std::uint64_t low;
        std::uint64_t high;  ///< bytes 8 to 14; 4 bits length; 4 bits free

        [[nodiscard]] std::uint64_t hash() const noexcept { return mix(low, high); }
    };

    /// `piece` has 1 to 15 bytes, and `readable` bytes follow in memory from its start.
    static Key key_of(const unsigned char* piece, std::size_t size, std::size_t readable) noexcept {
        std::array<std::uint64_t, 2> words{};
        if (readable < sizeof words) {
            std::memcpy(words.data(), piece, size);
        } else {
            std::memcpy(words.data(), piece, sizeof words);
            constexpr std::uint64_t all = ~std::uint64_t{0};
            words[0] &= size >= 8 ? all : all >> (64 - 8 * size);
            words[1] &= size > 8 ? all >> (128 - 8 * size) : 0;
        }
        return {words[0], words[1] | std::uint64_t{size} << length_at};
    }

    /// 0 if it is not remembered.
    [[nodiscard]] std::uint32_t find(const Key& key) const noexcept {
        const Entry& entry = entries_[slot_of(key)];
        const std::uint64_t high = entry.high.load(std::memory_order_relaxed);
        if ((high & key_mask) != key.high) return 0;
        const std::uint64_t low = entry.masked_low.load(std::memory_order_relaxed) ^ mask_of(high);
        return low == key.low ? static_cast<std::uint32_t>(high >> count_at) : 0;
    }

    void remember(const Key& key, std::size_t count) noexcept {
        Entry& entry = entries_[slot_of(key)];
        const std::uint64_t high = key.high | std::uint64_t{count} << count_at;
        entry.high.store(high, std::memory_order_relaxed);
        entry.masked_low.store(key.low ^ mask_of(high), std::memory_order_relaxed);
    }

private:
    static constexpr unsigned size_log2 = 15;
    static constexpr unsigned shift = 64 - size_log2;
    static constexpr unsigned length_at = 56;
    static constexpr unsigned count_at = 60;
    static constexpr std::uint64_t key_mask = (std::uint64_t{1} << count_at) - 1;

    struct Entry {
        std::atomic<std::uint64_t> high{0};
        std::atomic<std::uint64_t> masked_low{0};
    };

    static std::size_t slot_of(const Key& key) noexcept { return static_cast<std::size_t>(key.hash() >> shift); }
    static std::uint64_t mask_of(std::uint64_t high) noexcept {
        return (high + 0x9e3779b97f4a7c15U) * 0xd6e8feb86659fd93U;
    }

    std::unique_ptr<Entry[]> entries_ = std::make_unique<Entry[]>(std::size_t{1} << size_log2);
};

}  // namespace whittle::inline v0::bpe
