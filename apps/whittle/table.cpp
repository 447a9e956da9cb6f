#include "table.hpp"

#include "shown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

}  // namespace whittle::cli
