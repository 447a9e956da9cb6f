#include "whittle/base/text.hpp"
#include "utf8.hpp"
#include "whittle/base/detail/graphemes.hpp"
#include "whittle/base/detail/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <vector>

namespace whittle::inline v0 {
namespace {

constexpr std::string_view white_space = " \t\n\r\f\v";
constexpr std::string_view replacement = "\xEF\xBF\xBD";

using utf8::Lead;
using utf8::lead_of;
using utf8::Sequence;
using utf8::sequence_at;

std::size_t skip_ascii(std::string_view text, std::size_t at) noexcept {
    for (; at + 8 <= text.size(); at += 8) {
        std::uint64_t word;
        std::memcpy(&word, text.data() + at, sizeof word);
        if ((word & 0x8080808080808080U) != 0) break;
    }
    while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
    return at;
}

/// Where the first ill-formed sequence at or after `at` begins, or the size.
std::size_t find_invalid(std::string_view text, std::size_t at) noexcept {
    while ((at = skip_ascii(text, at)) < text.size()) {
        const Sequence sequence = sequence_at(text, at);
        if (!sequence.is_valid) break;
        at += sequence.length;
    }
    return at;
}

/// No character goes across `at`, without a look at more than one byte.
bool is_between(std::string_view text, std::size_t at) noexcept {
    return (static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U;
}

}  // namespace

std::string_view grapheme_prefix(std::string_view text, std::size_t max_bytes) noexcept {
    if (max_bytes >= text.size()) return text;
    const std::size_t at = is_between(text, max_bytes) ? max_bytes : utf8::character_around(text, max_bytes).begin;
    return text.substr(0, detail::cluster_border_before(text, at));
}

std::string_view grapheme_suffix(std::string_view text, std::size_t max_bytes) noexcept {
    if (max_bytes >= text.size()) return text;
    const std::size_t begin = text.size() - max_bytes;
    if (begin == text.size()) return {};
    const std::size_t at = is_between(text, begin) ? begin : utf8::character_around(text, begin).end;
    return text.substr(detail::cluster_border_behind(text, at));
}

std::string_view first_lines(std::string_view text, std::int64_t lines) noexcept {
    std::size_t end = 0;
    for (; lines > 0; --lines) {
        const std::size_t feed = text.find('\n', end);
        if (feed == std::string_view::npos) return text;
        end = feed + 1;
    }
    return text.substr(0, end);
}

std::string_view last_lines(std::string_view text, std::int64_t lines) noexcept {
    std::size_t begin = text.size();
    for (; lines > 0 && begin > 0; --lines) {
        const std::size_t feed = begin < 2 ? std::string_view::npos : text.rfind('\n', begin - 2);
        begin = feed == std::string_view::npos ? 0 : feed + 1;
    }
    return text.substr(begin);
}

std::string_view without_incomplete_utf8(std::string_view text) noexcept {
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
        const std::size_t at = text.size() - back;
        const Lead lead = lead_of(static_cast<unsigned char>(text[at]));
        if (lead.length == 0) continue;
        const Sequence sequence = sequence_at(text, at);
        return !sequence.is_valid && sequence.length == back ? text.substr(0, at) : text;
    }
    return text;
}

bool is_valid_utf8(std::string_view text) noexcept { return find_invalid(text, 0) == text.size(); }

std::string to_valid_utf8(std::string_view text) {
    std::string valid;
    valid.reserve(text.size());
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t bad = find_invalid(text, at);
        valid += text.substr(at, bad - at);
        if (bad == text.size()) break;
        valid += replacement;
        at = bad + sequence_at(text, bad).length;
    }
    return valid;
}

bool is_blank(std::string_view text) noexcept { return text.find_first_not_of(white_space) == std::string_view::npos; }

namespace {

constexpr std::size_t lanes = 16;

/// Of up to 255 times `lanes` bytes: then no lane runs over. Compilers make it one comparison for all lanes.
std::int64_t line_feeds_of_block(std::string_view bytes) noexcept {
    std::array<std::uint8_t, lanes> feeds{};
    for (std::size_t at = 0; at < bytes.size(); at += lanes) {
        for (std::size_t i = 0; i < lanes; ++i)
            feeds[i] = static_cast<std::uint8_t>(feeds[i] + (bytes[at + i] == '\n' ? 1 : 0));
    }
    return std::accumulate(feeds.begin(), feeds.end(), std::int64_t{0});
}

}  // namespace

std::int64_t count_line_feeds(std::string_view text) noexcept {
    std::int64_t feeds = 0;
    std::size_t at = 0;
    while (text.size() - at >= lanes) {
        const std::size_t size = std::min<std::size_t>((text.size() - at) / lanes, 255) * lanes;
        feeds += line_feeds_of_block(text.substr(at, size));
        at += size;
    }
    return feeds + std::ranges::count(text.substr(at), '\n');
}

std::int64_t count_lines(std::string_view text) noexcept {
    return count_line_feeds(text) + (text.empty() || text.back() == '\n' ? 0 : 1);
}

std::string ascii_lower(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return lower;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row[b.size()];
}

bool is_json_object(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\n\r");
    if (first == std::string_view::npos || text[first] != '{') return false;
    if (text.find('\0') != std::string_view::npos) return false;  // the parser would take it for the end
    return detail::is_json(text);
}

std::string detail::in_quotes(std::string_view text) {
    constexpr std::size_t largest = 120;
    std::string out = "\"";
    for (const char c : to_valid_utf8(grapheme_prefix(text, largest))) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) {
            out += fmt::format("\\x{:02x}", byte);
        } else {
            out += c;
        }
    }
    out += '"';
    if (text.size() > largest) out += fmt::format(" ({} bytes)", text.size());
    return out;
}

}  // namespace whittle::inline v0
