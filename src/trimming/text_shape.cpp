#include "whittle/trimming/detail/result_class.hpp"

#include "whittle/base/text.hpp"
#include "whittle/trimming/detail/line_forms.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace whittle::inline v0::detail {

namespace {

constexpr std::size_t lines_looked_at = 400;

struct ShapeCounts {
    std::size_t lines = 0;
    std::size_t numbered = 0;
    std::size_t consecutive = 0;
    std::size_t hits = 0;
    std::size_t source = 0;
    std::size_t diff_marks = 0;
};

bool is_diff_mark(std::string_view line) noexcept {
    return line.starts_with("@@ -") || line.starts_with("diff --git ") || line.starts_with("+++ ") ||
           line.starts_with("--- ");
}

bool ends_as_source(std::string_view line) noexcept {
    const std::size_t last = line.find_last_not_of(" \t\r");
    constexpr std::string_view ends = "{};,(:)[]>";
    return last != std::string_view::npos && ends.find(line[last]) != std::string_view::npos;
}

bool is_hit(std::string_view line) noexcept { return hit_path(line) > 0 || trim_view(line).starts_with("Line "); }

ShapeCounts count_shapes(std::span<const std::string_view> lines) noexcept {
    ShapeCounts counts;
    long long previous = -1;
    for (const std::string_view line : lines.first(std::min(lines.size(), lines_looked_at))) {
        if (is_blank(line)) continue;
        ++counts.lines;
        if (const LineNumber number = line_number(line); number.bytes > 0) {
            ++counts.numbered;
            counts.consecutive += previous >= 0 && number.value == previous + 1 ? 1 : 0;
            previous = number.value;
        }
        counts.hits += is_hit(line) ? 1 : 0;
        counts.diff_marks += is_diff_mark(line) ? 1 : 0;
        counts.source += line[0] == ' ' || line[0] == '\t' || ends_as_source(line) ? 1 : 0;
    }
    return counts;
}

/// `word` in `text`, both in lower case, with no letter, digit or "_" around it.
bool has_whole_word(std::string_view text, std::string_view word) noexcept {
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        const bool starts = at == 0 || !is_ident_char(text[at - 1]);
        if (starts && (end == text.size() || !is_ident_char(text[end]))) return true;
    }
    return false;
}

constexpr std::array<std::string_view, 14> telling_words{"error",    "exception", "fail",      "failed",    "failure",
                                                         "failures", "fatal",     "panic",     "traceback", "not found",
                                                         "denied",   "invalid",   "undefined", "cannot"};
constexpr std::array<std::string_view, 4> error_starts{"---", "fail", "ok", "exit code"};
constexpr std::array<std::string_view, 10> failure_words{
    "rejected", "error", "fail", "fatal", "panic", "traceback", "exception", "exited with", "denied", "not found"};

bool has_exit_code(std::string_view lower) noexcept {
    constexpr std::string_view words = "exit code ";
    const std::size_t at = lower.find(words);
    const std::size_t digit = at + words.size();
    return at != std::string_view::npos && digit < lower.size() && lower[digit] >= '1' && lower[digit] <= '9';
}

}  // namespace

TextShape shape_of(std::span<const std::string_view> lines) noexcept {
    const ShapeCounts counts = count_shapes(lines);
    if (counts.lines < 4) return {};
    if (2 * counts.numbered >= counts.lines && 2 * counts.consecutive >= counts.numbered) return {.is_numbered = true};
    if (counts.diff_marks >= 2) return {.is_diff = true};
    if (2 * counts.hits >= counts.lines) return {.is_hits = true};
    return {.is_source = 10 * counts.source >= 6 * counts.lines};
}

bool tells_of_error(std::string_view line) noexcept {
    constexpr std::size_t looked_at = 400;
    const std::string lower = ascii_lower(line.substr(0, looked_at));
    const auto starts = [&](std::string_view word) {
        if (!lower.starts_with(word)) return false;
        return word != "ok" || lower.size() == 2 || !is_ident_char(lower[2]);
    };
    if (std::ranges::any_of(error_starts, starts)) return true;
    if (has_whole_word(lower, "no such")) return true;
    return std::ranges::any_of(telling_words, [&](std::string_view word) { return has_whole_word(lower, word); });
}

bool starts_as_failure(std::string_view text) noexcept {
    constexpr std::size_t looked_at = 300;
    const std::string lower = ascii_lower(text.substr(0, looked_at));
    const auto has = [&](std::string_view word) { return lower.find(word) != std::string::npos; };
    return has_exit_code(lower) || std::ranges::any_of(failure_words, has);
}

bool is_failed_output(std::string_view text) noexcept {
    const std::string lower = ascii_lower(trim_view(text.substr(0, 160)));
    if (lower.starts_with("exit code: 0") || lower.starts_with("<returncode>0")) return false;
    return starts_as_failure(text.substr(0, 160));
}

}  // namespace whittle::inline v0::detail
