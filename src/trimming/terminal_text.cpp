#include "whittle/trimming/detail/terminal_text.hpp"

#include "whittle/trimming/detail/line_forms.hpp"

namespace whittle::inline v0::detail {

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
        const bool is_sequence = end < text.size() && is_ident_start(text[end]) && text[end] != '_';
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
