#pragma once

#include "bpe_splitter.hpp"

#include <array>
#include <cstring>
#include <span>

namespace whittle::inline v0::bpe {

/// The tables of a vocabulary, in memory that somebody else owns: a mapped file, a string, or bytes of the program.
/// Token ids are merge ranks: of two merges the one with the lower id comes first.

inline constexpr unsigned id_bits = 18;
inline constexpr std::uint32_t no_token = (1U << id_bits) - 1;
inline constexpr std::size_t longest_short_piece = 13;

inline std::uint64_t mix(std::uint64_t low, std::uint64_t high) noexcept {
    std::uint64_t h =
        (low + 0x9e3779b97f4a7c15U) * 0xff51afd7ed558ccdU ^ (high + 0x3c6ef372fe94f82bU) * 0xc4ceb9fe1a85ec53U;
    h ^= h >> 32;
    return h * 0x9fb21c651e98df25U;
}

/// Where a hash belongs in a table of `slots` entries, a power of two.
[[nodiscard]] inline std::size_t slot(std::uint64_t hash, std::size_t slots) noexcept {
    return static_cast<std::size_t>(hash) & (slots - 1);
}

/// A token of at most 13 bytes: bytes 0 to 7; then bytes 8 to 12, 18 bits id, 4 bits length, and in the first entry of
/// a bucket one bit that says that the next bucket has tokens of this one.
struct ShortToken {
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    static constexpr unsigned id_at = 40;
    static constexpr unsigned length_at = id_at + id_bits;
    static constexpr std::uint64_t overflow = std::uint64_t{1} << 62;
    static constexpr std::uint64_t key_mask = ((std::uint64_t{1} << id_at) - 1) | (std::uint64_t{15} << length_at);

    [[nodiscard]] std::uint32_t id() const noexcept { return high >> id_at & no_token; }
    [[nodiscard]] bool is_empty() const noexcept { return (high & key_mask) == 0; }
};

struct ShortBucket {
    std::array<ShortToken, 4> tokens{};
};

/// `piece` has 1 to 13 bytes. The id is left 0.
inline ShortToken key_of(const unsigned char* piece, std::size_t size) noexcept {
    std::array<std::uint64_t, 2> words{};
    std::memcpy(words.data(), piece, size);
    return {words[0], words[1] | std::uint64_t{size} << ShortToken::length_at};
}

/// The key of a piece at which 16 bytes can be read.
inline ShortToken key_of_readable(const unsigned char* piece, std::size_t size) noexcept {
    std::uint64_t low;
    std::uint64_t high;
    std::memcpy(&low, piece, 8);
    std::memcpy(&high, piece + 8, 8);
    constexpr std::uint64_t all = ~std::uint64_t{0};
    low &= size >= 8 ? all : all >> (64 - 8 * size);
    high &= size > 8 ? all >> (128 - 8 * size) : 0;
    return {low, high | std::uint64_t{size} << ShortToken::length_at};
}

/// A cell of the double array: 21 bits parent + 1 (0: free), 21 bits base, 18 bits token.
struct TrieCell {
    static constexpr unsigned index_bits = 21;
    static constexpr std::uint64_t index_mask = (1U << index_bits) - 1;

    std::uint64_t bits = std::uint64_t{no_token} << (2 * index_bits);

    [[nodiscard]] std::uint64_t parent_plus_1() const noexcept { return bits & index_mask; }
    [[nodiscard]] std::uint64_t base() const noexcept { return bits >> index_bits & index_mask; }
    [[nodiscard]] std::uint32_t token() const noexcept { return static_cast<std::uint32_t>(bits >> (2 * index_bits)); }

    void set_parent(std::uint64_t index) noexcept { bits = (bits & ~index_mask) | (index + 1); }
    void set_base(std::uint64_t base) noexcept { bits = (bits & ~(index_mask << index_bits)) | base << index_bits; }
    void set_token(std::uint32_t token) noexcept {
        bits = (bits & ((std::uint64_t{1} << 2 * index_bits) - 1)) | std::uint64_t{token} << (2 * index_bits);
    }
};

struct Split {
    std::uint32_t left = no_token;
    std::uint32_t right = no_token;  ///< both are the token itself for a single byte
};

inline constexpr unsigned filter_words_per_pair_slot_log2 = 3;

template <typename Word>
struct Tables {
    template <typename T>
    using Section = std::span<std::conditional_t<std::is_const_v<Word>, const T, T>>;

    Section<ShortBucket> short_tokens{};   ///< a power of two
    Section<std::uint64_t> pair_filter{};  ///< a Bloom filter with one hash; a power of two
    Section<std::uint64_t> pairs{};        ///< left, right, token, 18 bits each; 0: free; a power of two
    Section<TrieCell> trie{};              ///< cell 0 is the root; 256 cells behind the last base are there
    Section<Split> splits{};               ///< by id
    Section<std::uint32_t> shorter{};      ///< by id: the longest token that is a true prefix, or no_token
    Section<std::uint8_t> lengths{};       ///< by id: bytes; 0: no such token
    Section<std::uint32_t> offsets{};      ///< by id, and one more: where in `bytes`
    Section<unsigned char> bytes{};

    [[nodiscard]] static std::uint64_t pair_key(std::uint32_t left, std::uint32_t right) noexcept {
        return (std::uint64_t{left} << id_bits | right) << id_bits;
    }

    [[nodiscard]] bool may_be_pair(std::uint64_t hash) const noexcept {
        return pair_filter[slot(hash >> 6, pair_filter.size())] >> (hash & 63) & 1;
    }

    /// The token that `left` and `right` merge into, or no_token.
    [[nodiscard]] std::uint32_t merged(std::uint32_t left, std::uint32_t right) const noexcept {
        const std::uint64_t key = pair_key(left, right);
        const std::uint64_t hash = mix(key, 0) >> 20;
        if (!may_be_pair(hash)) return no_token;
        for (std::size_t i = slot(hash, pairs.size()); pairs[i] != 0; i = (i + 1) & (pairs.size() - 1))
            if ((pairs[i] ^ key) <= no_token) return static_cast<std::uint32_t>(pairs[i] & no_token);
        return no_token;
    }

    [[nodiscard]] std::uint32_t find_short(const ShortToken& key) const noexcept {
        std::size_t at = slot(mix(key.low, key.high) >> 32, short_tokens.size());
        while (true) {
            const ShortBucket& bucket = short_tokens[at];
            for (const ShortToken& token : bucket.tokens)
                if (token.low == key.low && (token.high & ShortToken::key_mask) == key.high) return token.id();
            if (!(bucket.tokens[0].high & ShortToken::overflow)) return no_token;
            at = (at + 1) & (short_tokens.size() - 1);
        }
    }

    /// The longest token that starts at `p`. There is one: every single byte is a token.
    [[nodiscard]] std::uint32_t longest_token(const unsigned char* p, const unsigned char* end) const noexcept {
        std::size_t node = 0;
        std::uint32_t best = no_token;
        while (p != end) {
            const std::size_t next = static_cast<std::size_t>(trie[node].base()) + *p++;
            if (trie[next].parent_plus_1() != node + 1) break;
            node = next;
            if (trie[node].token() != no_token) best = trie[node].token();
        }
        return best;
    }
};

using View = Tables<const unsigned char>;
using MutableView = Tables<unsigned char>;

}  // namespace whittle::inline v0::bpe
