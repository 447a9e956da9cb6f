// How a short text begins and what it holds, for the tests of what a server or a model says instead of a summary.
#pragma once

#include "whittle/base/detail/ascii.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

inline constexpr std::size_t nowhere = std::string_view::npos;

/// Without white space and the marks that set a text off: "**Error**", "> Error", "[error]".
[[nodiscard]] inline std::string_view without_marks(std::string_view text) noexcept {
    const std::size_t begin = text.find_first_not_of(" \t\r\n*_#>`'\"[(!-");
    return begin == nowhere ? std::string_view{} : text.substr(begin);
}

template <std::size_t N>
[[nodiscard]] bool begins_with_any(std::string_view text, const std::array<std::string_view, N>& openings) noexcept {
    return std::ranges::any_of(openings, [&](std::string_view opening) { return text.starts_with(opening); });
}

template <std::size_t N>
[[nodiscard]] bool holds_any(std::string_view text, const std::array<std::string_view, N>& phrases) noexcept {
    return std::ranges::any_of(phrases, [&](std::string_view p) { return text.find(p) != nowhere; });
}

/// White space in a row is one blank, none at the ends. Stops once it has more than `enough` bytes.
[[nodiscard]] inline std::string single_spaced(std::string_view text, std::size_t enough = nowhere) {
    std::string line;
    for (const char c : text) {
        const bool is_gap = c == ' ' || c == '\t' || c == '\n' || c == '\r';
        if (is_gap && (line.empty() || line.back() == ' ')) continue;
        line += is_gap ? ' ' : c;
        if (line.size() > enough) break;
    }
    if (line.ends_with(' ')) line.pop_back();
    return line;
}

/// Letters of ASCII, of Latin-1 and of Russian in lower case, typographic apostrophes plain.
[[nodiscard]] inline std::string lowered(std::string_view text) {
    constexpr std::string_view curly = "\u2019";
    std::string lower = ascii_lower(text);
    for (std::size_t at = lower.find(curly); at != nowhere; at = lower.find(curly, at))
        lower.replace(at, curly.size(), 1, '\'');
    for (std::size_t at = 0; at + 1 < lower.size(); ++at) {
        const auto lead = static_cast<unsigned char>(lower[at]);
        const auto next = static_cast<unsigned char>(lower[at + 1]);
        const bool is_latin = lead == 0xC3 && next >= 0x80 && next <= 0x9E;
        const bool is_first_half = lead == 0xD0 && next >= 0x90 && next <= 0x9F;
        const bool is_second_half = lead == 0xD0 && next >= 0xA0 && next <= 0xAF;
        if (is_latin || is_first_half) lower[at + 1] = static_cast<char>(next + 0x20);
        if (is_second_half) {
            lower[at] = static_cast<char>(0xD1);
            lower[at + 1] = static_cast<char>(next - 0x20);
        }
    }
    return lower;
}

}  // namespace whittle::inline v0::detail
