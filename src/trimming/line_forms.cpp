#include "whittle/trimming/detail/line_forms.hpp"

#include "whittle/base/text.hpp"

#include <algorithm>

namespace whittle::inline v0::detail {

namespace {

constexpr std::string_view arrow = "\xe2\x86\x92";  // →

std::size_t digits_at(std::string_view text, std::size_t at) noexcept {
    std::size_t end = at;
    while (end < text.size() && is_digit(text[end])) ++end;
    return end - at;
}

/// Bytes of what separates a number from its line: "→", tab, ": ", ":", "| ", "|", ". ", "-".
std::size_t separator_at(std::string_view line, std::size_t at) noexcept {
    if (at >= line.size()) return 0;
    if (line.substr(at).starts_with(arrow)) return arrow.size();
    const char c = line[at];
    const bool has_blank = at + 1 < line.size() && line[at + 1] == ' ';
    if (c == '\t' || c == '-') return 1;
    if (c == ':' || c == '|') return has_blank ? 2 : 1;
    return c == '.' && has_blank ? 2 : 0;
}

/// Digits and ":" or "-" at `at`: bytes of both, or 0.
std::size_t number_of_hit(std::string_view line, std::size_t at) noexcept {
    const std::size_t digits = digits_at(line, at);
    const std::size_t end = at + digits;
    const bool ends = digits > 0 && end < line.size() && (line[end] == ':' || line[end] == '-');
    return ends ? digits + 1 : 0;
}

/// "  Line 12: ": bytes, or 0.
std::size_t numbered_by_word(std::string_view line) noexcept {
    constexpr std::string_view word = "Line ";
    const std::size_t start = std::min(line.find_first_not_of(" \t"), line.size());
    if (!line.substr(start).starts_with(word)) return 0;
    const std::size_t digits = digits_at(line, start + word.size());
    const std::size_t end = start + word.size() + digits;
    return digits > 0 && line.substr(end).starts_with(": ") ? end + 2 : 0;
}

}  // namespace

std::vector<std::string_view> split_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    lines.reserve(static_cast<std::size_t>(count_line_feeds(text)) + 1);
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    lines.push_back(text);
    return lines;
}

LineNumber line_number(std::string_view line) noexcept {
    constexpr std::size_t most_blanks = 8;
    constexpr std::size_t most_digits = 9;
    LineNumber number;
    while (number.blanks < most_blanks && number.blanks < line.size() && line[number.blanks] == ' ') ++number.blanks;
    const std::size_t digits = digits_at(line, number.blanks);
    if (digits == 0 || digits > most_digits) return {};
    const std::size_t separator = separator_at(line, number.blanks + digits);
    if (separator == 0) return {};
    for (std::size_t i = 0; i < digits; ++i) number.value = number.value * 10 + (line[number.blanks + i] - '0');
    number.bytes = number.blanks + digits + separator;
    return number;
}

std::size_t hit_path(std::string_view line) noexcept {
    constexpr std::size_t longest_path = 200;
    constexpr std::size_t shortest_path = 2;
    const bool has_drive =
        line.size() > 2 && is_letter(line[0]) && line[1] == ':' && (line[2] == '\\' || line[2] == '/');
    const std::size_t start = has_drive ? 2 : 0;
    std::size_t end = start;
    while (end < line.size() && end - start <= longest_path && line[end] != ':' && !is_space(line[end])) ++end;
    if (end < line.size() && line[end] == ':' && end - start >= shortest_path && number_of_hit(line, end + 1) > 0)
        return end + 1;
    for (std::size_t dash = line.find('-', start + shortest_path); dash < end; dash = line.find('-', dash + 1)) {
        if (number_of_hit(line, dash + 1) > 0) return dash + 1;
    }
    return 0;
}

std::size_t hit_mark(std::string_view line) noexcept {
    if (const std::size_t path = hit_path(line); path > 0) return path + number_of_hit(line, path);
    if (const std::size_t number = number_of_hit(line, 0); number > 0) return number;
    return numbered_by_word(line);
}

std::string_view normal_line(std::string_view line, LineMarks marks) noexcept {
    switch (marks) {
        case LineMarks::none: break;
        case LineMarks::numbers: line.remove_prefix(line_number(line).bytes); break;
        case LineMarks::diff:
            if (!line.empty() && (line[0] == '+' || line[0] == '-' || line[0] == ' ')) line.remove_prefix(1);
            break;
        case LineMarks::hits: line.remove_prefix(hit_mark(line)); break;
        case LineMarks::some_hits:
            if (hit_path(line) > 0) line.remove_prefix(hit_mark(line));
            break;
    }
    return trim_view(line);
}

std::string without_colours(std::string_view text) {
    std::string left;
    left.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\x1b' || i + 1 >= text.size() || text[i + 1] != '[') {
            left += text[i];
            continue;
        }
        std::size_t end = i + 2;
        while (end < text.size() && (is_digit(text[end]) || text[end] == ';' || text[end] == '?')) ++end;
        const bool is_sequence = end < text.size() && is_letter(text[end]);
        if (!is_sequence) {
            left += text[i];
            continue;
        }
        i = end;
    }
    return left;
}

std::string_view last_written(std::string_view line) noexcept {
    if (line.find('\r') == std::string_view::npos) return line;
    while (line.ends_with('\r')) line.remove_suffix(1);
    return line.substr(line.rfind('\r') + 1);
}

}  // namespace whittle::inline v0::detail
