#include "failures.hpp"

#include "characters.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <array>

namespace whittle::inline v0::evaluation {
namespace {

bool ends_word(std::string_view text, std::size_t at) { return at >= text.size() || !character_at(text, at).is_word; }

bool is_code(char c) { return c >= '1' && c <= '9'; }

/// How tools begin their report of a failure.
bool begins_with_failure(std::string_view text) {
    constexpr std::array<std::string_view, 6> starts{"<tool_use_error>", "error:", "Traceback",
                                                     "Command failed",   "fatal:", "{\"error"};
    constexpr std::array<std::string_view, 2> words{"Error", "FAIL"};
    constexpr std::string_view code = "Exit code ";
    text = stripped(text);
    if (std::ranges::any_of(starts, [&](auto start) { return text.starts_with(start); })) return true;
    if (std::ranges::any_of(words, [&](auto w) { return text.starts_with(w) && ends_word(text, w.size()); }))
        return true;
    return text.starts_with(code) && text.size() > code.size() && is_code(text[code.size()]);
}

/// Behind a mark: what is no word, then the rest of one line.
bool is_near_the_end(std::string_view text, std::size_t at) {
    constexpr std::int64_t longest_rest = 200;
    while (at < text.size() && is_digit(text[at])) ++at;
    while (at < text.size() && !character_at(text, at).is_word) at += character_at(text, at).bytes;
    const std::string_view rest = text.substr(at);
    return rest.find('\n') == std::string_view::npos && count_characters(rest) <= longest_rest;
}

/// How shells and protocols end one.
bool ends_with_failure(std::string_view text) {
    constexpr std::array<std::string_view, 3> marks{"exited with code ", "exit status ", "isError=True"};
    for (const std::string_view mark : marks) {
        for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
            const std::size_t end = at + mark.size();
            const bool has_code = mark.back() != ' ' || (end < text.size() && is_code(text[end]));
            if (has_code && is_near_the_end(text, end)) return true;
        }
    }
    return false;
}

bool looks_failed(std::string_view result) {
    constexpr std::int64_t looked_at = 400;
    const std::string_view head = first_characters(result, looked_at);
    if (begins_with_failure(head)) return true;
    if (head.size() == result.size()) return ends_with_failure(result);
    return ends_with_failure(std::string(head) + "\n" + std::string(last_characters(result, looked_at)));
}

bool has_word(std::string_view line, std::string_view word) {
    for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
        if (!ends_in_word(line.substr(0, at)) && ends_word(line, at + word.size())) return true;
    }
    return false;
}

bool mentions_error(std::string_view line) {
    constexpr std::array<std::string_view, 15> words{"error",  "exception", "fail",      "failed",    "failure",
                                                     "fails",  "fatal",     "panic",     "traceback", "not found",
                                                     "denied", "invalid",   "undefined", "cannot",    "no such"};
    const std::string lower = ascii_lower(line);
    return std::ranges::any_of(words, [&](auto word) { return has_word(lower, word); });
}

}  // namespace

std::string failure_line(std::string_view result) {
    constexpr std::int64_t shortest = 8;
    constexpr std::int64_t longest = 300;
    if (!looks_failed(result)) return {};
    std::string_view last;
    std::string_view error_line;
    for (const std::string_view line : lines_of(result)) {
        const std::string_view bare = stripped(line);
        if (bare.empty()) continue;
        last = bare;
        if (mentions_error(bare)) error_line = bare;
    }
    const std::string_view line = error_line.empty() ? last : error_line;
    return count_characters(line) < shortest ? std::string() : std::string(first_characters(line, longest));
}

}  // namespace whittle::inline v0::evaluation
