#pragma once

#include "bpe_tables.hpp"

namespace whittle::inline v0::bpe {

/// Pairs of bytes that are a token and that a split never parts, but behind an apostrophe (contractions) and between
/// the last two of a run of blanks. So where both bytes stand as tokens of their own, they would have merged.
class JoinedPairs {
public:
    void fill(const View& tables, Pattern pattern) noexcept {
        for (std::size_t id = 0; id < tables.lengths.size(); ++id) {
            if (tables.lengths[id] != 2) continue;
            const unsigned char* pair = tables.bytes.data() + tables.offsets[id];
            if (are_joined(pair[0], pair[1], pattern)) set(pair[0], pair[1]);
        }
    }

    [[nodiscard]] bool has(unsigned char first, unsigned char second) const noexcept {
        return words_[first * 4U + second / 64U] >> (second % 64U) & 1;
    }

private:
    void set(unsigned char first, unsigned char second) noexcept {
        words_[first * 4U + second / 64U] |= std::uint64_t{1} << (second % 64U);
    }

    static constexpr bool is_small(unsigned char c) noexcept { return c >= 'a' && c <= 'z'; }
    static constexpr bool is_capital(unsigned char c) noexcept { return c >= 'A' && c <= 'Z'; }
    static constexpr bool is_letter(unsigned char c) noexcept { return is_small(c) || is_capital(c); }
    static constexpr bool is_symbol(unsigned char c) noexcept {
        return c > ' ' && c < 0x7f && !is_letter(c) && !(c >= '0' && c <= '9');
    }

    /// Of o200k only "aB" is parted among letters, and what follows a "/", which may end a run of symbols.
    static constexpr bool are_joined(unsigned char a, unsigned char b, Pattern pattern) noexcept {
        if (b >= 0x80 && b < 0xc0) return a >= 0x80;  // inside a character
        if (is_letter(a) && is_letter(b)) return pattern != Pattern::o200k || !is_small(a) || is_small(b);
        if (is_symbol(a) && is_symbol(b)) return a != '/';
        return a == ' ' && (is_letter(b) || b == ' ');
    }

    std::array<std::uint64_t, 1'024> words_{};
};

}  // namespace whittle::inline v0::bpe
