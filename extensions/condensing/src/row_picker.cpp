#include "row_picker.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace whittle::inline v0::detail {

namespace {

constexpr std::size_t most_columns = 64;
constexpr std::size_t few_values = 16;
constexpr std::size_t longest_value = 80;

}  // namespace

std::optional<double> to_number(std::string_view text) noexcept {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
    return number;
}

RowPicker::RowPicker(std::size_t rows, const CondensingConfig& config)
    : keeps_(rows), outliers_left_(static_cast<std::size_t>(config.max_outliers)) {
    const std::size_t head = std::min(rows, static_cast<std::size_t>(config.head_rows));
    const std::size_t tail = std::min(rows, static_cast<std::size_t>(config.tail_rows));
    for (std::size_t i = 0; i < head; ++i) keeps_[i] = true;
    for (std::size_t i = 0; i < tail; ++i) keeps_[rows - 1 - i] = true;
}

void RowPicker::add_cell(std::size_t row, std::size_t column, std::string_view value) {
    if (column >= most_columns) return;
    if (column >= columns_.size()) columns_.resize(column + 1);
    Column& in = columns_[column];
    ++in.cells;
    if (const auto number = to_number(value)) {
        if (in.numbers == 0 || *number < in.least) {
            in.least = *number;
            in.least_row = row;
        }
        if (in.numbers == 0 || *number > in.greatest) {
            in.greatest = *number;
            in.greatest_row = row;
        }
        ++in.numbers;
    }
    if (!in.has_few_values) return;
    const auto found = value.size() <= longest_value ? in.values.try_emplace(value, Place{row}).first : in.values.end();
    if (found != in.values.end()) ++found->second.times;
    in.has_few_values = found != in.values.end() && in.values.size() <= few_values;
}

void RowPicker::add_outlier(std::size_t row) {
    if (keeps_[row] || outliers_left_ == 0) return;
    keeps_[row] = true;
    --outliers_left_;
}

/// In the order of the rows, so that the same table always gives the same rows.
void RowPicker::add_rare_values() {
    constexpr std::size_t rare_share = 50;  // one row of so many
    std::vector<std::size_t> rows;
    for (const Column& column : columns_) {
        if (!column.has_few_values) continue;
        for (const auto& [value, place] : column.values) {
            if (place.times <= 2 || place.times * rare_share <= column.cells) rows.push_back(place.row);
        }
    }
    std::ranges::sort(rows);
    for (const std::size_t row : rows) add_outlier(row);
}

void RowPicker::add_extremes() {
    for (const Column& column : columns_) {
        if (10 * column.numbers < 9 * column.cells || column.least == column.greatest) continue;
        add_outlier(column.least_row);
        add_outlier(column.greatest_row);
    }
}

/// Errors take at most half of the room when there are many.
std::vector<bool> RowPicker::pick() {
    const std::size_t room = outliers_left_;
    const std::size_t from_front = (room + 3) / 4;
    for (std::size_t i = 0; i < std::min(from_front, errors_.size()); ++i) add_outlier(errors_[i]);
    for (std::size_t i = errors_.size(); i-- > 0 && outliers_left_ > room / 2;) add_outlier(errors_[i]);
    add_rare_values();
    add_extremes();
    return keeps_;
}

}  // namespace whittle::inline v0::detail
