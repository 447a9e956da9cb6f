#pragma once

#include "whittle/base/version.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace whittle::inline v0::utf8 {

struct Sequence {
    std::size_t length = 1;  ///< of the character, or of the maximal ill-formed subsequence
    bool is_valid = false;
};

struct Lead {
    std::size_t length = 0;  ///< 0: no lead byte
    unsigned char low = 0x80;
    unsigned char high = 0xBF;  ///< range of the second byte
};

/// Unicode 15, table 3-7.
inline Lead lead_of(unsigned char c) noexcept {
    if (c >= 0xC2 && c <= 0xDF) return {2};
    if (c == 0xE0) return {3, 0xA0, 0xBF};
    if (c == 0xED) return {3, 0x80, 0x9F};
    if (c >= 0xE1 && c <= 0xEF) return {3};
    if (c == 0xF0) return {4, 0x90, 0xBF};
    if (c == 0xF4) return {4, 0x80, 0x8F};
    if (c >= 0xF1 && c <= 0xF3) return {4};
    return {};
}

inline Sequence sequence_at(std::string_view text, std::size_t at) noexcept {
    const auto first = static_cast<unsigned char>(text[at]);
    if (first < 0x80) return {1, true};
    const Lead lead = lead_of(first);
    for (std::size_t i = 1; i < lead.length; ++i) {
        const unsigned char low = i == 1 ? lead.low : 0x80;
        const unsigned char high = i == 1 ? lead.high : 0xBF;
        if (at + i >= text.size()) return {i, false};
        const auto next = static_cast<unsigned char>(text[at + i]);
        if (next < low || next > high) return {i, false};
    }
    return lead.length == 0 ? Sequence{1, false} : Sequence{lead.length, true};
}

struct Bounds {
    std::size_t begin;
    std::size_t end;
};

/// The character that a cut at `at` would tear apart; both ends are `at` if it tears none.
inline Bounds character_around(std::string_view text, std::size_t at) noexcept {
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, at); ++back) {
        const std::size_t begin = at - back;
        const Sequence sequence = sequence_at(text, begin);
        if (sequence.length > back) return {begin, begin + sequence.length};
    }
    return {at, at};
}

}  // namespace whittle::inline v0::utf8
