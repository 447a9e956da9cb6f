#pragma once

#include "whittle/base/version.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace whittle::inline v0::pieces {

// clang-format off
/// What a piece of text is. The pieces are near those into which byte-pair encodings (o200k) cut a text first.
/// `bare`: nothing before the word; `spaced`: a blank belongs to it; `marked`: another character does.
/// `dense`: inside a long run of short pieces, as base64 and hex have them.
enum class Kind : std::uint8_t {
    lower_bare, lower_spaced, lower_marked, lower_dense,
    capital_bare, capital_spaced, capital_marked, capital_dense,
    upper_bare, upper_spaced, upper_marked, upper_dense,
    latin, greek, cyrillic, semitic, indic, southeast, hangul, kana, han, other_letter,
    number, punctuation, repeated, asian_mark, symbol, emoji, other, invalid, spaces, newlines,
};
// clang-format on
inline constexpr std::size_t kinds = static_cast<std::size_t>(Kind::newlines) + 1;

/// Of one character. Up to `upper`, and from `latin` to `other_letter`, they are letters.
enum class Class : std::uint8_t {
    lower,
    upper,
    latin,
    greek,
    cyrillic,
    semitic,
    indic,
    southeast,
    hangul,
    kana,
    han,
    other_letter,
    digit,
    space,
    newline,
    punctuation,
    asian_mark,
    symbol,
    emoji,
    other,
    invalid,
};

struct Char {
    Class type = Class::invalid;
    std::uint8_t bytes = 1;
};

struct Range {
    char32_t last;
    Class type;
};

/// In order: a character belongs to the first range whose `last` is not below it.
inline constexpr Range ranges[] = {
    {0x00bf, Class::symbol},       {0x036f, Class::latin},        {0x03ff, Class::greek},
    {0x052f, Class::cyrillic},     {0x058f, Class::other_letter}, {0x08ff, Class::semitic},
    {0x0dff, Class::indic},        {0x0eff, Class::southeast},    {0x0fff, Class::indic},
    {0x109f, Class::southeast},    {0x10ff, Class::other_letter}, {0x11ff, Class::hangul},
    {0x177f, Class::other_letter}, {0x17ff, Class::southeast},    {0x1dff, Class::other_letter},
    {0x1eff, Class::latin},        {0x1fff, Class::greek},        {0x27ff, Class::symbol},
    {0x28ff, Class::other},        {0x2bff, Class::symbol},       {0x2dff, Class::other_letter},
    {0x2e7f, Class::symbol},       {0x2fff, Class::han},          {0x303f, Class::asian_mark},
    {0x30ff, Class::kana},         {0x312f, Class::han},          {0x318f, Class::hangul},
    {0x33ff, Class::asian_mark},   {0x9fff, Class::han},          {0xabff, Class::other_letter},
    {0xd7ff, Class::hangul},       {0xf8ff, Class::other},        {0xfaff, Class::han},
    {0xfdff, Class::semitic},      {0xfe2f, Class::emoji},        {0xfe6f, Class::asian_mark},
    {0xfefe, Class::semitic},      {0xffef, Class::asian_mark},   {0x1efff, Class::other},
    {0x1faff, Class::emoji},       {0x1ffff, Class::other},       {0x3ffff, Class::han},
    {0x10ffff, Class::other},
};

constexpr Class class_of_ascii(unsigned char c) noexcept {
    if (c >= 'a' && c <= 'z') return Class::lower;
    if (c >= 'A' && c <= 'Z') return Class::upper;
    if (c >= '0' && c <= '9') return Class::digit;
    if (c == '\n' || c == '\r') return Class::newline;
    if (c == ' ' || (c >= '\t' && c <= '\f')) return Class::space;
    return Class::punctuation;
}

inline constexpr std::array<Class, 128> ascii = [] {
    std::array<Class, 128> table{};
    for (unsigned c = 0; c < 128; ++c) table[c] = class_of_ascii(static_cast<unsigned char>(c));
    return table;
}();

inline Class class_of(char32_t c) noexcept {
    return std::lower_bound(std::begin(ranges), std::end(ranges), c,
                            [](const Range& r, char32_t x) { return r.last < x; })
        ->type;
}

/// The character at `at`. A byte that starts no well-formed sequence is one of class `invalid`.
/// Inlined by force: in a file that holds more than this counting, g++ thinks it too large.
[[gnu::always_inline]] inline Char char_at(std::string_view text, std::size_t at) noexcept {
    const auto byte = [&](std::size_t i) -> unsigned {
        return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
    };
    const unsigned first = byte(0);
    if (first < 0x80) return {.type = ascii[first]};
    const unsigned size = first >= 0xf0 ? 4U : first >= 0xe0 ? 3U : 2U;
    if (first < 0xc2 || first > 0xf4) return {};
    char32_t c = first & (0x7fU >> size);
    for (unsigned i = 1; i < size; ++i) {
        if ((byte(i) & 0xc0U) != 0x80U) return {};
        c = c << 6 | (byte(i) & 0x3fU);
    }
    if ((size == 3 && c < 0x800) || (size == 4 && (c < 0x10000 || c > 0x10ffff)) || (c >= 0xd800 && c <= 0xdfff))
        return {};
    return {.type = class_of(c), .bytes = static_cast<std::uint8_t>(size)};
}

constexpr bool is_letter(Class type) noexcept { return type <= Class::other_letter; }
constexpr bool is_latin(Class type) noexcept { return type <= Class::latin; }

/// The kind of a run of characters of one class that is not Latin.
constexpr Kind kind_of(Class type) noexcept {
    switch (type) {
        case Class::greek: return Kind::greek;
        case Class::cyrillic: return Kind::cyrillic;
        case Class::semitic: return Kind::semitic;
        case Class::indic: return Kind::indic;
        case Class::southeast: return Kind::southeast;
        case Class::hangul: return Kind::hangul;
        case Class::kana: return Kind::kana;
        case Class::han: return Kind::han;
        case Class::other_letter: return Kind::other_letter;
        case Class::digit: return Kind::number;
        case Class::asian_mark: return Kind::asian_mark;
        case Class::symbol: return Kind::symbol;
        case Class::emoji: return Kind::emoji;
        case Class::other: return Kind::other;
        case Class::invalid: return Kind::invalid;
        default: return Kind::latin;
    }
}

}  // namespace whittle::inline v0::pieces
