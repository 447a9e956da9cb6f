#include "table.hpp"

#include "markup.hpp"
#include "shown.hpp"
#include "whittle/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace whittle::cli {
namespace {

std::string padded(const std::string& text, std::size_t width, bool is_left) {
    const std::string space(width - std::min(width, width_of(text)), ' ');
    return is_left ? text + space : space + text;
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

std::string ratio(double part, double whole) { return whole > 0 ? fmt::format("{:.3f}", part / whole) : "-"; }

std::string amount(double money) {
    const double size = std::abs(money);
    return fmt::format("{:.{}f}", money, size < 1 ? 6 : size < 100 ? 4 : 2);
}

void Table::add(std::vector<std::string> row) {
    for (std::string& cell : row) cell = shown(cell);
    rows_.push_back(std::move(row));
}

std::string Table::text(bool bold) const {
    std::vector<std::size_t> widths(rows_.front().size());
    for (const auto& row : rows_) {
        for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c]));
    }
    std::size_t total = widths.size() * 2 - 2;
    for (const std::size_t width : widths) total += width;
    std::string text;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
        std::string line;
        for (std::size_t c = 0; c < rows_[r].size(); ++c)
            line += (c == 0 ? "" : "  ") + padded(rows_[r][c], widths[c], c == 0);
        if (rows_[r].empty()) line.assign(total, '-');
        line.erase(line.find_last_not_of(' ') + 1);
        text += bold && r == 0 ? "\x1b[1m" + line + "\x1b[0m\n" : line + "\n";
    }
    return text;
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
