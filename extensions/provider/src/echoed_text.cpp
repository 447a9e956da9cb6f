#include "echoed_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace whittle::inline v0::detail {
namespace {

// A value as Python or JSON writes it follows at once.
constexpr std::array<std::string_view, 4> value_marks{"input_value=", "'input': ", "\"input\": ", "\"input\":"};
// Words about a value, which is quoted, but not escaped; at once behind those that end in a space.
constexpr std::array<std::string_view, 7> quoting_marks{
    "invalid value", "unsupported value", "unknown parameter", "unknown name", "unrecognized request argument",
    "; got ",        "but got "};

struct Span {
    std::size_t begin = std::string_view::npos;
    std::size_t end = std::string_view::npos;
};

/// Behind the quote that ends the string which begins at `begin`.
std::size_t end_of_string(std::string_view text, std::size_t begin) noexcept {
    const char quote = text[begin];
    for (std::size_t at = begin + 1; at < text.size(); ++at) {
        if (text[at] == '\\')
            ++at;
        else if (text[at] == quote)
            return at + 1;
    }
    return text.size();
}

bool is_quote(char c) noexcept { return c == '\'' || c == '"'; }

bool is_word(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

/// Behind the bracket that closes the one at `begin`; npos if none does.
std::size_t end_of_brackets(std::string_view text, std::size_t begin) noexcept {
    std::size_t depth = 0;
    for (std::size_t at = begin; at < text.size();) {
        const char c = text[at];
        if (is_quote(c)) {
            at = end_of_string(text, at);
            continue;
        }
        if (c == '{' || c == '[') ++depth;
        if ((c == '}' || c == ']') && --depth == 0) return at + 1;
        ++at;
    }
    return std::string_view::npos;
}

/// Lists and objects that are not closed go up to what pydantic names next, or to the end.
std::size_t end_of_value(std::string_view text, std::size_t begin) noexcept {
    if (begin >= text.size()) return text.size();
    if (is_quote(text[begin])) return end_of_string(text, begin);
    if (text[begin] == '{' || text[begin] == '[') {
        if (const std::size_t end = end_of_brackets(text, begin); end != std::string_view::npos) return end;
    }
    return std::min(text.find(", input_type=", begin), text.size());
}

Span find_value(std::string_view text, std::size_t from) noexcept {
    Span found;
    for (const std::string_view mark : value_marks) {
        const std::size_t at = text.find(mark, from);
        if (at < found.begin) found = {at, at + mark.size()};
    }
    if (found.begin != std::string_view::npos) found.end = end_of_value(text, found.end);
    return found;
}

/// A quote begins where no word stands before it, and ends where none follows: the others are apostrophes.
std::size_t find_opening(std::string_view text, std::size_t from) noexcept {
    for (std::size_t at = from; at < text.size(); ++at) {
        if (is_quote(text[at]) && (at == 0 || !is_word(text[at - 1]))) return at;
    }
    return std::string_view::npos;
}

std::size_t find_last_closing(std::string_view text, std::size_t opening) noexcept {
    for (std::size_t at = text.size(); at-- > opening + 1;) {
        if (text[at] == text[opening] && (at + 1 == text.size() || !is_word(text[at + 1]))) return at;
    }
    return std::string_view::npos;
}

/// From the first quote behind such words to the last one of its kind: inside, quotes may stand unescaped.
Span find_quoted(std::string_view text) noexcept {
    for (const std::string_view mark : quoting_marks) {
        const std::size_t words = text.find(mark);
        if (words == std::string_view::npos) continue;
        const std::size_t begin = find_opening(text, words);
        const bool is_next = begin == words + mark.size();
        if (begin == std::string_view::npos || (mark.ends_with(' ') && !is_next)) continue;
        const std::size_t last = find_last_closing(text, begin);
        if (last != std::string_view::npos) return {begin, last + 1};
    }
    return {};
}

}  // namespace

std::string without_echoes(std::string_view text) {
    std::string kept;
    std::size_t from = 0;
    for (Span echo = find_value(text, from); echo.begin < text.size(); echo = find_value(text, from)) {
        kept.append(text.substr(from, echo.begin - from));
        from = echo.end;
    }
    kept.append(text.substr(from));
    if (const Span quoted = find_quoted(kept); quoted.begin < kept.size())
        kept.erase(quoted.begin, quoted.end - quoted.begin);
    return kept;
}

}  // namespace whittle::inline v0::detail
