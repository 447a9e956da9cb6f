#include "shown.hpp"

#include "whittle/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

namespace whittle::cli {
namespace {

struct Range {
    char32_t first;
    char32_t last;
};

/// Unicode 15: controls, marks of direction, separators of lines, and what shows nothing at all.
constexpr std::array<Range, 13> steering{{{0x00, 0x1F},
                                          {0x7F, 0x9F},
                                          {0xAD, 0xAD},
                                          {0x61C, 0x61C},
                                          {0x180E, 0x180E},
                                          {0x200B, 0x200B},
                                          {0x200E, 0x200F},
                                          {0x2028, 0x202E},
                                          {0x2060, 0x206F},
                                          {0xFEFF, 0xFEFF},
                                          {0xFFF9, 0xFFFB},
                                          {0xE0000, 0xE007F},
                                          {0xE0100, 0xE01EF}}};

/// East Asian Width W and F (Unicode 15, UAX #11), small gaps of unassigned characters included.
constexpr std::array<Range, 22> wide{
    {{0x1100, 0x115F}, {0x231A, 0x231B},   {0x23E9, 0x23EC},   {0x25FD, 0x25FE},  {0x2614, 0x2615}, {0x2648, 0x2653},
     {0x26AA, 0x26AB}, {0x26BD, 0x26BE},   {0x2705, 0x2705},   {0x270A, 0x270B},  {0x2753, 0x2755}, {0x2E80, 0x303E},
     {0x3041, 0xA4CF}, {0xA960, 0xA97C},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},  {0xFE30, 0xFE6F}, {0xFF00, 0xFF60},
     {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F}, {0x1F680, 0x1FAFF}, {0x20000, 0x3FFFD}}};

/// Combining marks of common scripts, joiners and variation selectors.
constexpr std::array<Range, 16> without_width{{{0x300, 0x36F},
                                               {0x483, 0x489},
                                               {0x591, 0x5BD},
                                               {0x610, 0x61A},
                                               {0x64B, 0x65F},
                                               {0x93C, 0x93C},
                                               {0x941, 0x948},
                                               {0x94D, 0x94D},
                                               {0xE31, 0xE31},
                                               {0xE34, 0xE3A},
                                               {0xE47, 0xE4E},
                                               {0x1AB0, 0x1AFF},
                                               {0x1DC0, 0x1DFF},
                                               {0x200C, 0x200D},
                                               {0x20D0, 0x20FF},
                                               {0xFE00, 0xFE0F}}};

bool is_in(std::span<const Range> ranges, char32_t c) {
    const auto range = std::ranges::lower_bound(ranges, c, {}, &Range::last);
    return range != ranges.end() && range->first <= c;
}

/// Takes the first character off valid UTF-8 text.
char32_t take_character(std::string_view& text) {
    const auto lead = static_cast<unsigned char>(text.front());
    const std::size_t size = lead < 0x80U ? 1 : lead < 0xE0U ? 2 : lead < 0xF0U ? 3 : 4;
    char32_t c = size == 1 ? lead : lead & (0x7FU >> size);
    for (std::size_t i = 1; i < size; ++i) c = c << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
    text.remove_prefix(size);
    return c;
}

void append_escape(std::string& out, char32_t c) {
    if (c > 0xFFFF) {
        const char32_t offset = c - 0x10000;
        append_escape(out, 0xD800 + (offset >> 10U));
        c = 0xDC00 + (offset & 0x3FFU);
    }
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
}

std::string escape(std::string_view text, std::string_view kept) {
    const std::string valid = to_valid_utf8(text);
    std::string out;
    out.reserve(valid.size());
    for (std::string_view rest = valid; !rest.empty();) {
        const std::string_view before = rest;
        const char32_t c = take_character(rest);
        const bool is_kept = c < 0x80 && kept.find(static_cast<char>(c)) != std::string_view::npos;
        if (is_in(steering, c) && !is_kept) {
            append_escape(out, c);
        } else {
            out += before.substr(0, before.size() - rest.size());
        }
    }
    return out;
}

std::size_t width_of_character(char32_t c) { return is_in(without_width, c) ? 0 : is_in(wide, c) ? 2 : 1; }

/// Looks at no more of it than that takes.
bool is_wider(std::string_view text, std::size_t columns) {
    for (std::size_t width = 0; !text.empty();) {
        width += width_of_character(take_character(text));
        if (width > columns) return true;
    }
    return false;
}

}  // namespace

std::string shown(std::string_view text) { return escape(text, {}); }

std::string shown_lines(std::string_view text) { return escape(text, "\n"); }

std::string shown_again(std::string_view text) { return escape(text, "\n\t\x1b"); }

std::string shown_json(const nlohmann::ordered_json& json, int indent) {
    return escape(json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace), "\n");
}

std::string csv_cell(std::string_view text) {
    std::string cell = "\"";
    for (const char c : shown(text)) cell.append(c == '"' ? 2 : 1, c);
    return cell + "\"";
}

std::size_t width_of(std::string_view text) {
    std::size_t width = 0;
    while (!text.empty()) width += width_of_character(take_character(text));
    return width;
}

std::string clipped_to_width(std::string_view text, std::size_t columns) {
    if (!is_wider(text, columns)) return std::string(text);
    constexpr std::string_view dots = "...";
    std::string_view rest = text;
    std::size_t width = 0;
    while (!rest.empty()) {
        const std::string_view before = rest;
        width += width_of_character(take_character(rest));
        if (width + dots.size() <= columns) continue;
        rest = before;
        break;
    }
    return std::string(grapheme_prefix(text, text.size() - rest.size())).append(dots);
}

std::string wrapped(std::string_view text, std::size_t columns) {
    std::string lines;
    while (is_wider(text, columns)) {
        std::size_t end = text.find(' ', text.find_first_not_of(' '));
        for (std::size_t next = end; next != std::string_view::npos && width_of(text.substr(0, next)) <= columns;
             next = text.find(' ', next + 1))
            end = next;
        if (end == std::string_view::npos) break;
        lines.append(text.substr(0, end)).append("\n");
        text.remove_prefix(end + 1);
    }
    return lines.append(text).append("\n");
}

std::string wrapped_lines(std::string_view lines, std::size_t columns) {
    std::string text;
    for (std::size_t end = lines.find('\n'); end != std::string_view::npos; end = lines.find('\n')) {
        text += wrapped(lines.substr(0, end), columns);
        lines.remove_prefix(end + 1);
    }
    return text;
}

}  // namespace whittle::cli
