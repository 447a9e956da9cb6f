#include "whittle/base/detail/graphemes.hpp"
#include "utf8.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace whittle::inline v0::detail {

namespace {

using unicode::GraphemeClass;

GraphemeClass grapheme_class(std::uint32_t c) noexcept {
    using enum GraphemeClass;
    if (c < 0x80) return c < 0x20 || c == 0x7F ? control : other;
    if (c >= 0xAC00 && c <= 0xD7A3) return (c - 0xAC00) % 28 == 0 ? lv : lvt;
    const auto* const behind = std::ranges::upper_bound(unicode::grapheme_ranges, c << 11U | 0x7FFU);
    if (behind == std::begin(unicode::grapheme_ranges)) return other;
    const std::uint32_t range = *(behind - 1);
    return c - (range >> 11U) <= (range >> 4U & 0x7FU) ? static_cast<GraphemeClass>(range & 0xFU) : other;
}

/// The well-formed character in `bytes`.
std::uint32_t code_point(std::string_view bytes) noexcept {
    const auto first = static_cast<unsigned char>(bytes.front());
    if (bytes.size() == 1) return first;
    std::uint32_t c = first & (0xFFU >> (bytes.size() + 1));
    for (const char byte : bytes.substr(1)) c = c << 6U | (static_cast<unsigned char>(byte) & 0x3FU);
    return c;
}

constexpr bool extends(GraphemeClass c) noexcept {
    using enum GraphemeClass;
    return c == extend || c == linker || c == nonjoiner;
}

/// GB6 to GB8.
constexpr bool is_one_syllable(GraphemeClass before, GraphemeClass behind) noexcept {
    using enum GraphemeClass;
    switch (before) {
        case leading: return behind == leading || behind == vowel || behind == lv || behind == lvt;
        case lv:
        case vowel: return behind == vowel || behind == trailing;
        case lvt:
        case trailing: return behind == trailing;
        default: return false;
    }
}

bool is_plain_border(std::string_view text, std::size_t at) noexcept {
    if (at == 0 || at >= text.size()) return true;
    const auto before = static_cast<unsigned char>(text[at - 1]);
    const auto behind = static_cast<unsigned char>(text[at]);
    return (before | behind) < 0x80 && !(before == '\r' && behind == '\n');
}

}  // namespace

Clusters::Class Clusters::class_at(std::size_t at) noexcept {
    ++looked_up_;
    const utf8::Sequence sequence = utf8::sequence_at(text_, at);
    return sequence.is_valid ? grapheme_class(code_point(text_.substr(at, sequence.length))) : Class::other;
}

/// Where the character begins that ends at `at`, which is not the front of the text.
std::size_t Clusters::before(std::size_t at) const noexcept { return utf8::character_around(text_, at - 1).begin; }

/// GB9c: a consonant behind another one and signs of which one links them. `at`: of the last of these signs.
bool Clusters::is_in_conjunct(std::size_t at) noexcept {
    using enum GraphemeClass;
    bool is_linked = false;
    for (std::size_t n = 0; n < most_of_cluster; ++n) {
        const Class c = class_at(at);
        if (c == consonant) return is_linked;
        if (c != extend && c != linker && c != zwj) return false;
        is_linked |= c == linker;
        if (at == 0) return false;
        at = before(at);
    }
    return false;
}

/// GB11: what is in front of the joiner at `joiner` ends in an emoji.
bool Clusters::is_joined_emoji(std::size_t joiner) noexcept {
    std::size_t at = joiner;
    for (std::size_t n = 0; n < most_of_cluster && at > 0; ++n) {
        at = before(at);
        const Class c = class_at(at);
        if (!extends(c)) return c == Class::pictographic;
    }
    return false;
}

/// GB12 and GB13: an odd number of regional indicators stands in front of the one at `at`.
bool Clusters::is_second_of_flag(std::size_t at) noexcept {
    std::size_t in_front = 0;
    while (in_front < most_regionals && at > 0) {
        at = before(at);
        if (class_at(at) != Class::regional) break;
        ++in_front;
    }
    return in_front % 2 == 1;
}

bool Clusters::is_border(std::size_t at) noexcept {
    using enum GraphemeClass;
    if (is_plain_border(text_, at)) return true;
    if (text_[at - 1] == '\r' && text_[at] == '\n') return false;
    const std::size_t last = before(at);
    const Class in_front = class_at(last);
    const Class behind = class_at(at);
    if (in_front == control || behind == control) return true;  // GB4, GB5
    if (extends(behind) || behind == zwj || behind == spacing || in_front == prepend) return false;
    switch (behind) {
        case consonant: return !is_in_conjunct(last);
        case pictographic: return in_front != zwj || !is_joined_emoji(last);
        case regional: return in_front != regional || !is_second_of_flag(at);
        default: return !is_one_syllable(in_front, behind);
    }
}

std::size_t Clusters::border_before(std::size_t at) noexcept {
    std::size_t border = at;
    for (std::size_t n = 0; n <= most_of_cluster && border > 0; ++n) {
        if (is_border(border)) return border;
        border = before(border);
    }
    return at;
}

std::size_t Clusters::border_behind(std::size_t at) noexcept {
    std::size_t border = at;
    for (std::size_t n = 0; n <= most_of_cluster && border < text_.size(); ++n) {
        if (is_border(border)) return border;
        border += utf8::sequence_at(text_, border).length;
    }
    return at;
}

std::size_t cluster_border_before(std::string_view text, std::size_t at) noexcept {
    return is_plain_border(text, at) ? at : Clusters(text).border_before(at);
}

std::size_t cluster_border_behind(std::string_view text, std::size_t at) noexcept {
    return is_plain_border(text, at) ? at : Clusters(text).border_behind(at);
}

}  // namespace whittle::inline v0::detail
