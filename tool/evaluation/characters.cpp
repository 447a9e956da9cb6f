#include "characters.hpp"

#include "whittle/tiktoken/detail/char_class.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace whittle::inline v0::evaluation {
namespace {

constexpr bool follows(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

constexpr bool splits_character(std::string_view text, std::size_t at) noexcept {
    return at > 0 && at < text.size() && follows(text[at]);
}

/// Bytes of the well-formed character at the front of `text`; 1 for anything else.
std::size_t bytes_of_first(std::string_view text) noexcept {
    const auto lead = static_cast<unsigned char>(text.front());
    const std::size_t bytes = lead < 0xC2 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 1;
    if (bytes > text.size()) return 1;
    return std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(bytes), follows) ? bytes : 1;
}

unsigned class_of_first(std::string_view text, std::size_t bytes) noexcept {
    const auto lead = static_cast<unsigned char>(text.front());
    if (lead >= 0x80 && bytes == 1) return bpe::other;
    if (lead == 0xF4 && static_cast<unsigned char>(text[1]) > 0x8F) return bpe::other;  // above U+10FFFF
    if (lead >= 0x1C && lead <= 0x1F) return bpe::space;                                // separators of old files
    return bpe::char_at(reinterpret_cast<const unsigned char*>(text.data())).type;
}

bool is_space_at(std::string_view text, std::size_t at) noexcept {
    return (character_at(text, at).char_class & bpe::blanks) != 0;
}

std::size_t start_of_last(std::string_view text) noexcept {
    std::size_t at = text.size() - 1;
    while (at > 0 && text.size() - at < 4 && follows(text[at])) --at;
    return at;
}

}  // namespace

std::int64_t count_characters(std::string_view text) noexcept {
    return std::count_if(text.begin(), text.end(), [](char c) { return !follows(c); });
}

std::string_view first_characters(std::string_view text, std::int64_t characters) noexcept {
    if (static_cast<std::int64_t>(text.size()) <= characters) return text;
    std::size_t at = 0;
    for (; at < text.size(); ++at) {
        if (!follows(text[at]) && characters-- <= 0) break;
    }
    return text.substr(0, at);
}

std::string_view last_characters(std::string_view text, std::int64_t characters) noexcept {
    std::size_t at = text.size();
    while (at > 0 && characters > 0) {
        if (!follows(text[--at])) --characters;
    }
    return text.substr(at);
}

std::int64_t common_front(std::string_view a, std::string_view b) noexcept {
    const std::size_t size = std::min(a.size(), b.size());
    const auto at = static_cast<std::size_t>(
        std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(size), b.begin()).first - a.begin());
    const std::int64_t characters = count_characters(a.substr(0, at));
    return characters - (splits_character(a, at) || splits_character(b, at) ? 1 : 0);
}

std::int64_t common_end(std::string_view a, std::string_view b) noexcept {
    const auto at =
        std::mismatch(a.rbegin(), a.rbegin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())), b.rbegin());
    return count_characters(a.substr(a.size() - static_cast<std::size_t>(at.first - a.rbegin())));
}

Character character_at(std::string_view text, std::size_t at) noexcept {
    text.remove_prefix(at);
    const std::size_t bytes = bytes_of_first(text);
    const unsigned type = class_of_first(text, bytes);
    return {bytes, type, text.front() == '_' || (type & (bpe::letters | bpe::number)) != 0};
}

bool ends_in_word(std::string_view text) noexcept {
    return !text.empty() && character_at(text, start_of_last(text)).is_word;
}

std::string_view stripped(std::string_view text) noexcept {
    while (!text.empty() && is_space_at(text, 0)) text.remove_prefix(character_at(text, 0).bytes);
    while (!text.empty() && is_space_at(text, start_of_last(text))) text = text.substr(0, start_of_last(text));
    return text;
}

bool has_two_spaces(std::string_view text) noexcept {
    int spaces = 0;
    for (std::size_t at = 0; at < text.size() && spaces < 2; at += character_at(text, at).bytes)
        spaces += is_space_at(text, at) ? 1 : 0;
    return spaces == 2;
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    for (std::size_t begin = 0;;) {
        const std::size_t end = text.find('\n', begin);
        lines.push_back(text.substr(begin, end - begin));
        if (end == std::string_view::npos) return lines;
        begin = end + 1;
    }
}

std::string json_escaped(std::string_view text) {
    constexpr std::string_view special = "\"\\\n\r\t\b\f";
    constexpr std::string_view letters = "\"\\nrtbf";
    std::string escaped;
    escaped.reserve(text.size());
    for (const char c : text) {
        const std::size_t at = special.find(c);
        if (at != std::string_view::npos) {
            escaped.append(1, '\\').append(1, letters[at]);
        } else if (static_cast<unsigned char>(c) < 0x20) {
            escaped += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
            escaped += c;
        }
    }
    return escaped;
}

}  // namespace whittle::inline v0::evaluation
