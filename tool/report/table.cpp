#include "table.hpp"

#include "markup.hpp"
#include "masked.hpp"
#include "shown.hpp"
#include "whittle/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <sstream>
#include <utility>

namespace whittle::cli {
namespace {

constexpr std::size_t shortest_heading = 4;
constexpr std::size_t shortest_stacked_name = 16;

std::size_t longest_word(std::string_view text) {
    std::size_t longest = 0;
    for (std::size_t end = text.find(' '); end != std::string_view::npos; end = text.find(' ')) {
        longest = std::max(longest, end);
        text.remove_prefix(end + 1);
    }
    return std::max(longest, text.size());
}

/// `text` in `width` columns.
std::string cell(const std::string& text, std::size_t width, bool is_left) {
    const std::string fitting = clipped_to_width(text, width);
    const std::string space(width - std::min(width, width_of(fitting)), ' ');
    return is_left ? fitting + space : space + fitting;
}

}  // namespace

std::string grouped(std::int64_t number) {
    std::string digits = std::to_string(number);
    const std::size_t first = number < 0 ? 1 : 0;
    for (std::size_t at = digits.size(); at > first + 3;) {
        at -= 3;
        digits.insert(at, ",");
    }
    return digits;
}

std::string rounded(double number) { return grouped(to_whole(number)); }

std::int64_t to_whole(double number) noexcept {
    constexpr double most = 9.2e18;  // what is more has no whole number of 64 bits
    if (number >= most) return INT64_MAX;
    return number <= -most ? INT64_MIN : std::llround(number);
}

std::string numbered(std::int64_t number, std::string_view what) {
    return fmt::format("{} {}{}", grouped(number), what, number == 1 ? "" : "s");
}

std::string change(double before, double now) {
    const double percent = before > 0 ? 100.0 * (before - now) / before : 0.0;
    if (std::abs(percent) < 0.5) return "as much";
    return fmt::format("{:.0f} % {}", std::abs(percent), percent > 0 ? "less" : "more");
}

std::string percent_of(std::int64_t part, std::int64_t all) {
    return all == 0 ? "-" : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(all));
}

std::string ratio(double part, double whole) { return whole > 0 ? fmt::format("{:.3f}", part / whole) : "-"; }

std::string dollars(double money) {
    constexpr double least = 0.00005;
    constexpr double least_of_cents = 0.1;
    constexpr double most = 1e15;
    if (std::isnan(money)) return "-";
    const double size = std::min(std::abs(money), most);
    const char* const sign = money < 0 ? "-" : "";
    if (size > 0 && size < least) return fmt::format("{}<$0.0001", sign);
    if (size > 0 && size < least_of_cents) return fmt::format("{}${:.4f}", sign, size);
    const std::int64_t cents = std::llround(100.0 * size);
    return fmt::format("{}${}.{:02}", sign, grouped(cents / 100), cents % 100);
}

std::string amount(double money) {
    const double size = std::abs(money);
    return fmt::format("{:.{}f}", money, size < 1 ? 6 : size < 100 ? 4 : 2);
}

void Table::add(std::vector<std::string> row) {
    for (std::string& cell : row) cell = shown(printed(cell));  // before it is cut
    rows_.push_back(std::move(row));
}

std::vector<std::size_t> Table::widths_from(std::size_t first_row) const {
    std::vector<std::size_t> widths(rows_.front().size());
    for (std::size_t r = first_row; r < rows_.size(); ++r) {
        for (std::size_t c = 0; c < rows_[r].size(); ++c) widths[c] = std::max(widths[c], width_of(rows_[r][c]));
    }
    return widths;
}

std::vector<std::size_t> Table::stacked_widths() const {
    std::vector<std::size_t> widths = widths_from(1);
    widths.front() = std::max(widths.front(), width_of(rows_.front().front()));
    for (std::size_t c = 1; c < widths.size(); ++c) widths[c] = std::max(widths[c], longest_word(rows_.front()[c]));
    return widths;
}

/// The last words of all headings stand in the last line.
std::string Table::heading_text(const std::vector<std::size_t>& widths, std::size_t gap, bool bold) const {
    std::vector<std::vector<std::string>> stacks;
    std::size_t height = 1;
    for (std::size_t c = 0; c < widths.size(); ++c) {
        std::istringstream in(wrapped(rows_.front()[c], widths[c]));
        auto& stack = stacks.emplace_back();
        for (std::string line; std::getline(in, line);) stack.push_back(std::move(line));
        height = std::max(height, stack.size());
    }
    std::string text;
    for (std::size_t level = 0; level < height; ++level) {
        std::string line;
        for (std::size_t c = 0; c < widths.size(); ++c) {
            const std::size_t above = height - stacks[c].size();
            line += std::string(c == 0 ? 0 : gap, ' ') +
                    cell(level < above ? std::string() : stacks[c][level - above], widths[c], c == 0);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += bold ? "\x1b[1m" + line + "\x1b[0m\n" : line + "\n";
    }
    return text;
}

std::string Table::text(bool bold, std::size_t columns) const { return fitted_text(bold, columns, Headings::cut); }

std::string Table::fitted_text(bool bold, std::size_t columns, Headings headings) const {
    constexpr std::size_t shortest_name = 8;
    std::vector<std::size_t> widths = widths_from(0);
    std::size_t gap = 2;
    const auto total = [&] { return std::accumulate(widths.begin(), widths.end(), gap * (widths.size() - 1)); };
    const bool is_stacked = headings == Headings::stacked && total() > columns;
    if (is_stacked) widths = stacked_widths();
    const std::size_t shortest = is_stacked ? std::min(widths[0], shortest_stacked_name) : widths[0];
    if (total() - widths[0] + shortest > columns) gap = 1;
    if (total() > columns && headings == Headings::cut) {
        const std::vector<std::size_t> of_figures = widths_from(1);
        for (std::size_t c = 1; c < widths.size(); ++c) widths[c] = std::max(of_figures[c], shortest_heading);
    }
    if (const std::size_t all = total(); all > columns)
        widths[0] = std::max(std::min(widths[0], shortest_name), widths[0] - std::min(widths[0], all - columns));
    std::string text = is_stacked ? heading_text(widths, gap, bold) : std::string();
    for (std::size_t r = is_stacked ? 1 : 0; r < rows_.size(); ++r) {
        std::string line;
        for (std::size_t c = 0; c < rows_[r].size(); ++c) {
            const bool is_heading = r == 0 && c > 0;  // ours, in ASCII: dots would leave nothing of it
            const std::string& whole = rows_[r][c];
            line += (c == 0 ? std::string() : std::string(gap, ' ')) +
                    cell(is_heading ? whole.substr(0, widths[c]) : whole, widths[c], c == 0);
        }
        if (rows_[r].empty()) line.assign(total(), '-');
        line.erase(line.find_last_not_of(' ') + 1);
        text += bold && r == 0 ? "\x1b[1m" + line + "\x1b[0m\n" : line + "\n";
    }
    return text;
}

Table Table::part(std::size_t first, std::size_t count) const {
    Table part{std::vector<std::string>{}};
    part.rows_.clear();
    for (const auto& row : rows_) {
        auto& cells = part.rows_.emplace_back();
        if (row.empty()) continue;
        cells.push_back(row.front());
        for (std::size_t c = first; c < first + count && c < row.size(); ++c) cells.push_back(row[c]);
    }
    return part;
}

std::string Table::folded_text(bool bold, std::size_t columns, std::span<const std::size_t> groups) const {
    return folded(bold, columns, groups, Headings::whole);
}

std::string Table::stacked_text(bool bold, std::size_t columns) const {
    return folded(bold, columns, {}, Headings::stacked);
}

std::string Table::folded(bool bold, std::size_t columns, std::span<const std::size_t> groups,
                          Headings headings) const {
    std::vector<std::size_t> widths = headings == Headings::stacked ? stacked_widths() : widths_from(0);
    if (headings == Headings::stacked) widths.front() = std::min(widths.front(), shortest_stacked_name);
    const auto width_of_group = [&](std::size_t first, std::size_t count) {  // at the closest
        const auto from = widths.begin() + static_cast<std::ptrdiff_t>(first);
        return std::accumulate(from, from + static_cast<std::ptrdiff_t>(count), count);
    };
    std::string text;
    std::size_t first = 1;
    std::size_t count = 0;
    std::size_t width = widths.front();
    for (std::size_t group = 0; first + count < widths.size(); ++group) {
        const std::size_t next = first + count;
        const std::size_t size = std::min(group < groups.size() ? groups[group] : 1, widths.size() - next);
        const std::size_t more = width_of_group(next, size);
        if (count > 0 && width + more > columns) {
            text += part(first, count).fitted_text(bold, columns, headings) + "\n";
            first = next;
            count = 0;
            width = widths.front();
        }
        count += size;
        width += more;
    }
    return text + part(first, count).fitted_text(bold, columns, headings);
}

bool Table::has_words(std::size_t column) const {
    return std::ranges::any_of(std::span(rows_).subspan(1), [&](const auto& row) {
        return column < row.size() && !row[column].empty() &&
               ascii_lower(row[column]).find_first_of("abcdefghijklmnopqrstuvwxyz") == 0;
    });
}

std::string Table::html(std::string_view caption, FunctionRef<std::string(const std::string&)> cell) const {
    std::vector<std::string_view> kinds;
    for (std::size_t c = 0; c < rows_.front().size(); ++c) kinds.push_back(has_words(c) ? " class=\"words\"" : "");
    std::string text = fmt::format("<table>\n<caption>{}</caption>\n<thead>\n<tr>", escaped_markup(caption));
    for (std::size_t c = 0; c < kinds.size(); ++c)
        text += fmt::format("<th scope=\"col\"{}>{}</th>", kinds[c], escaped_markup(cell(rows_.front()[c])));
    text += "</tr>\n</thead>\n<tbody>\n";
    bool is_sum = false;
    for (const auto& row : std::span(rows_).subspan(1)) {
        is_sum = is_sum || row.empty();
        if (row.empty()) continue;
        text += is_sum ? "<tr class=\"sum\">" : "<tr>";
        for (std::size_t c = 0; c < row.size(); ++c) {
            const std::string value = escaped_markup(cell(row[c]));
            text += c == 0 ? fmt::format("<th scope=\"row\">{}</th>", value)
                           : fmt::format("<td{}>{}</td>", kinds[c], value);
        }
        text += "</tr>\n";
    }
    return text + "</tbody>\n</table>\n";
}

}  // namespace whittle::cli
