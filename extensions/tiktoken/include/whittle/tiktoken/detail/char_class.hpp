#pragma once

#include "whittle/tiktoken/detail/unicode_classes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace whittle::inline v0::bpe {

/// Classes of characters as the split patterns tell them apart, one bit each, so that a set of them is a mask.
enum CharClass : std::uint8_t {
    upper = 1,     ///< Lu, Lt
    lower = 2,     ///< Ll
    caseless = 4,  ///< Lm, Lo
    mark = 8,      ///< M
    number = 16,   ///< N
    space = 32,    ///< White_Space without the two below
    newline = 64,  ///< CR and LF
    other = 128,
};

inline constexpr unsigned letters = upper | lower | caseless;
inline constexpr unsigned blanks = space | newline;

constexpr std::uint8_t class_of_letter(char letter) noexcept {
    switch (letter) {
        case 'U': return upper;
        case 'L': return lower;
        case 'C': return caseless;
        case 'M': return mark;
        case 'N': return number;
        case 'S': return space;
        case 'R': return newline;
        default: return other;
    }
}

inline constexpr std::size_t block_size = 128;

inline constexpr auto class_blocks = [] {
    std::array<std::uint8_t, sizeof unicode::blocks - 1> table{};
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = class_of_letter(unicode::blocks[i]);
    return table;
}();

inline constexpr auto block_of = [] {
    std::array<std::uint8_t, 0x110000 / block_size> table{};
    std::size_t at = 0;
    for (const unicode::BlockRun& run : unicode::block_runs)
        for (std::size_t i = 0; i < run.times; ++i) table[at++] = run.block;
    return table;
}();

inline unsigned class_of(char32_t c) noexcept {
    return class_blocks[block_of[c / block_size] * block_size + c % block_size];
}

struct Char {
    unsigned type;      ///< a CharClass
    std::size_t bytes;  ///< of its UTF-8 form
};

/// The character that starts at `p`, which is well-formed UTF-8 (nothing is checked).
inline Char char_at(const unsigned char* p) noexcept {
    const char32_t a = p[0];
    if (a < 0x80) return {class_blocks[a], 1};
    const char32_t b = p[1] & 0x3fU;
    if (a < 0xe0) return {class_of((a & 0x1fU) << 6 | b), 2};
    const char32_t c = p[2] & 0x3fU;
    if (a < 0xf0) return {class_of((a & 0x0fU) << 12 | b << 6 | c), 3};
    return {class_of((a & 0x07U) << 18 | b << 12 | c << 6 | (p[3] & 0x3fU)), 4};
}

}  // namespace whittle::inline v0::bpe
