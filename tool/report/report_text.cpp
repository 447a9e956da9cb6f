#include "report_text.hpp"

#include "masked.hpp"
#include "shown.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace whittle::cli {
namespace {

constexpr std::size_t longest_report_text = 65'536;
constexpr std::size_t shortest_report_text = 96;
constexpr std::size_t report_text_frame = 40;  // what stands around a text that is not whole

/// Of one byte of a text as a JSON string in a script element.
std::size_t size_of_byte(char c) noexcept {
    if (c == '<' || c == '>' || c == '&') return 6;
    return c == '"' || c == '\\' || c == '\n' || c == '\t' ? 2 : 1;
}

std::size_t size_of_string(std::string_view text) noexcept {
    return std::accumulate(text.begin(), text.end(), std::size_t{2},
                           [](std::size_t sum, char c) { return sum + size_of_byte(c); });
}

/// How many of the bytes that the iterators go over take at most `most`.
template <typename Iterator>
std::size_t count_fitting(Iterator at, Iterator end, std::size_t most) noexcept {
    std::size_t count = 0;
    for (std::size_t size = 0; at != end; ++at, ++count) {
        size += size_of_byte(*at);
        if (size > most) break;
    }
    return count;
}

std::string_view beginning_of(std::string_view text, std::size_t most) noexcept {
    return grapheme_prefix(text, count_fitting(text.begin(), text.end(), most));
}

std::string_view end_of(std::string_view text, std::size_t most) noexcept {
    return grapheme_suffix(text, count_fitting(text.rbegin(), text.rend(), most));
}

/// A return in front of a line feed says nothing.
std::string shown_with_tabs(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of("\t\r"), text.size());
        out += shown_lines(text.substr(0, end));
        text.remove_prefix(end);
        if (text.empty()) break;
        if (text.front() == '\t') {
            out += '\t';
        } else if (!text.starts_with("\r\n")) {
            out += shown("\r");
        }
        text.remove_prefix(1);
    }
    return out;
}

/// The limit at which texts of these sizes take at most `budget`; none is above the largest.
std::size_t common_limit(std::vector<std::size_t> sizes, std::size_t budget) {
    std::ranges::sort(sizes);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::size_t share = budget / (sizes.size() - i);
        if (sizes[i] > share) return share;
        budget -= sizes[i];
    }
    return sizes.empty() ? 0 : sizes.back();
}

void leave_out(ReportText& text) {
    text = {.head = {},
            .tail = {},
            .left_out = text.left_out + static_cast<std::int64_t>(text.head.size() + text.tail.size())};
}

}  // namespace

ReportText report_text(std::string_view text, bool is_masked) {
    ReportText shown_text{.head = shown_with_tabs(is_masked ? masked(text) : std::string(text))};
    shorten(shown_text, longest_report_text);
    return shown_text;
}

std::size_t size_in_report(const ReportText& text) noexcept {
    if (text.is_whole()) return size_of_string(text.head);
    return size_of_string(text.head) + size_of_string(text.tail) + report_text_frame;
}

void shorten(ReportText& text, std::size_t most) {
    if (size_in_report(text) <= most) return;
    const std::size_t room = most > report_text_frame + 4 ? most - report_text_frame - 4 : 0;
    const std::string_view behind = text.is_whole() ? text.head : text.tail;
    const std::string_view tail = end_of(behind, room / 3);
    const std::string_view front = text.is_whole() ? behind.substr(0, behind.size() - tail.size()) : text.head;
    const std::string_view head = beginning_of(front, room - room / 3);
    const std::size_t before = text.head.size() + text.tail.size();
    const auto left_out = text.left_out + static_cast<std::int64_t>(before - head.size() - tail.size());
    text = {.head = std::string(head), .tail = std::string(tail), .left_out = left_out};
}

void fit_texts(std::span<ReportText* const> texts, std::size_t budget) {
    std::vector<std::size_t> sizes;
    for (const ReportText* text : texts) sizes.push_back(size_in_report(*text));
    const std::size_t limit = std::max(common_limit(std::move(sizes), budget), shortest_report_text);
    for (ReportText* text : texts) {
        shorten(*text, limit);
        const std::size_t size = size_in_report(*text);
        if (size > budget) {
            leave_out(*text);
        } else {
            budget -= size;
        }
    }
}

}  // namespace whittle::cli
