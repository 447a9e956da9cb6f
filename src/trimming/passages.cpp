#include "passages.hpp"

#include "whittle/base/text.hpp"
#include "whittle/conversation/detail/stored_objects.hpp"
#include "whittle/trimming/detail/line_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace whittle::inline v0::detail {

namespace {

/// Columns in front of what a line says; a tabulator counts as four.
int indent_of(std::string_view line) noexcept {
    constexpr int most = 40;
    int columns = 0;
    for (const char c : line) {
        if (c != ' ' && c != '\t') break;
        columns += c == '\t' ? 4 : 1;
    }
    return std::min(columns, most);
}

/// Ends what stands in front of it.
bool is_end(std::string_view line) noexcept {
    constexpr std::array<std::string_view, 5> ends{"}", ")", "]", "end", "</"};
    const std::string_view text = trimmed_line(line);
    return std::ranges::any_of(ends, [&](std::string_view end) { return text.starts_with(end); });
}

/// Begins something whatever stands around it.
bool is_head(std::string_view line) noexcept {
    constexpr std::array<std::string_view, 8> heads{"@@",       "diff --git ", "*** ",    "--- FAIL",
                                                    "=== RUN ", "Traceback ",  "commit ", "# "};
    return std::ranges::any_of(heads, [&](std::string_view head) { return line.starts_with(head); });
}

/// What a break in front of line `i` costs.
int cost_of_break(std::span<const std::string_view> lines, std::size_t i) noexcept {
    constexpr int cost_of_column = 4;
    constexpr int cost_without_blank = 60;
    constexpr int cost_before_end = 120;
    constexpr int cost_before_blank = 200;
    constexpr int gain_before_head = 100;
    if (is_blank(lines[i])) return cost_before_blank;
    int cost = cost_of_column * indent_of(lines[i]);
    if (!is_blank(lines[i - 1])) cost += cost_without_blank;
    if (is_end(lines[i])) cost += cost_before_end;
    if (is_head(lines[i])) cost -= gain_before_head;
    return cost;
}

}  // namespace

LineRanges cut_into_passages(std::span<const std::string_view> lines, std::size_t most_lines) {
    const std::size_t most = std::max<std::size_t>(most_lines, 1);
    const std::size_t least = std::max<std::size_t>(most / 4, 1);
    LineRanges passages;
    for (std::size_t first = 0; first < lines.size();) {
        std::size_t end = lines.size();
        if (lines.size() - first > most) {
            end = first + most;
            int lowest = cost_of_break(lines, end);
            for (std::size_t i = end - 1; i >= first + least; --i) {
                const int cost = cost_of_break(lines, i);
                if (cost >= lowest) continue;
                lowest = cost;
                end = i;
            }
        }
        passages.emplace_back(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end));
        first = end;
    }
    return passages;
}

namespace {

std::string amount_of(std::uint64_t lines, std::uint64_t bytes, bool is_chinese) {
    if (lines == 1) return is_chinese ? fmt::format("{} 字节", bytes) : fmt::format("{} bytes", bytes);
    return is_chinese ? fmt::format("{} 行", lines) : fmt::format("{} lines", lines);
}

}  // namespace

std::string TextMark::of_lines(std::uint64_t first, std::uint64_t lines) const {
    const std::uint64_t last = first + lines - 1;
    const std::string way =
        way_back(reference, reader, language, fmt::format(", first_line={}, lines={}", first, lines));
    if (language == Language::chinese) return fmt::format("[省略本结果第 {}-{} 行{}]", first, last, way);
    if (lines == 1) return fmt::format("[line {} of this result left out{}]", first, way);
    return fmt::format("[lines {}-{} of this result left out{}]", first, last, way);
}

std::string TextMark::of_result(std::uint64_t lines, std::uint64_t bytes) const {
    const bool is_chinese = language == Language::chinese;
    const std::string way = way_back(reference, reader, language);
    const std::string amount = amount_of(lines, bytes, is_chinese);
    return is_chinese ? fmt::format("[省略本结果全部 {}{}]", amount, way)
                      : fmt::format("[all {} of this result left out{}]", amount, way);
}

/// What is stored of a call is the whole call.
std::string TextMark::of_argument(std::string_view name, std::uint64_t lines, std::uint64_t bytes) const {
    constexpr std::size_t longest_name = 40;
    const bool is_chinese = language == Language::chinese;
    std::string way = way_back(reference, reader, language);
    if (!way.empty() && reader == read_offloaded_name) way += is_chinese ? " 给出整个调用" : " gives this whole call";
    const std::string amount = amount_of(lines, bytes, is_chinese);
    if (name.empty() || name.size() > longest_name) name = is_chinese ? "此参数" : "this argument";
    return is_chinese ? fmt::format("[省略 {} 的 {}{}]", name, amount, way)
                      : fmt::format("[{} of {} left out{}]", amount, name, way);
}

}  // namespace whittle::inline v0::detail
