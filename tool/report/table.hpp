#pragma once

#include "whittle/base/detail/function_ref.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::cli {

/// "1,234,567".
[[nodiscard]] std::string grouped(std::int64_t number);
/// The same of the nearest whole number.
[[nodiscard]] std::string rounded(double number);
/// Held at the ends of 64 bits.
[[nodiscard]] std::int64_t to_whole(double number) noexcept;
/// "1 file", "2 files".
[[nodiscard]] std::string numbered(std::int64_t number, std::string_view what);
/// "0.446"; "-" if there is nothing to divide by.
[[nodiscard]] std::string ratio(double part, double whole);
/// "44.6 %"; "-" of nothing.
[[nodiscard]] std::string percent_of(std::int64_t part, std::int64_t all);
/// "51 % less", "3 % more"; "as much" below half a per cent.
[[nodiscard]] std::string change(double before, double now);
/// "$1,234.50"; four digits behind the point below ten cents.
[[nodiscard]] std::string dollars(double money);
/// "$"-less money: six digits after the point below 1, two from 100 on, else four.
[[nodiscard]] std::string amount(double money);

/// Rows of text in aligned columns: the first to the left, the others to the right.
class Table {
public:
    explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}

    /// Cells are escaped for a terminal.
    void add(std::vector<std::string> row);
    void add_line() { rows_.emplace_back(); }
    /// `bold` makes the header bold with terminal codes. Where it is wider than `columns`, columns stand closer, then
    /// headings are cut to their figures, then names to as few as 8 columns; figures are never cut, so that a narrow
    /// terminal may still be too narrow.
    [[nodiscard]] std::string text(bool bold, std::size_t columns = SIZE_MAX) const;
    /// The same with whole headings, for those that say something else when they are cut: where it is wider than
    /// `columns`, what does not fit stands below, behind the first column again. `together`: how many columns stay
    /// beside each other, from the second one on, since a heading goes on with the one in front; empty: each by itself.
    [[nodiscard]] std::string folded_text(bool bold, std::size_t columns,
                                          std::span<const std::size_t> groups = {}) const;
    /// The same with headings that are broken at blanks into lines above each other where the table is wider than
    /// `columns`; names are cut to 16 columns before anything is folded.
    [[nodiscard]] std::string stacked_text(bool bold, std::size_t columns) const;
    /// A table of HTML: the first row and the first column are headers, rows behind a line are of the class "sum",
    /// columns with words of the class "words". `cell` makes of a cell's text what is to be seen of it.
    [[nodiscard]] std::string html(std::string_view caption, FunctionRef<std::string(const std::string&)> cell) const;
    [[nodiscard]] bool empty() const noexcept { return rows_.size() < 2; }

private:
    enum class Headings : std::uint8_t { whole, cut, stacked };

    [[nodiscard]] std::vector<std::size_t> widths_from(std::size_t first_row) const;
    /// Of columns whose headings are as narrow as their longest words.
    [[nodiscard]] std::vector<std::size_t> stacked_widths() const;
    [[nodiscard]] std::string heading_text(const std::vector<std::size_t>& widths, std::size_t gap, bool bold) const;
    [[nodiscard]] std::string fitted_text(bool bold, std::size_t columns, Headings headings) const;
    [[nodiscard]] std::string folded(bool bold, std::size_t columns, std::span<const std::size_t> groups,
                                     Headings headings) const;
    /// The first column and `count` from `first` on.
    [[nodiscard]] Table part(std::size_t first, std::size_t count) const;
    /// Whether a cell below the header begins with a letter.
    [[nodiscard]] bool has_words(std::size_t column) const;

    std::vector<std::vector<std::string>> rows_;
};

}  // namespace whittle::cli
