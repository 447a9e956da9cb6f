#pragma once

#include "whittle/base/version.hpp"
#include "whittle/condensing/config.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace whittle::inline v0::detail {

/// Chooses the rows of a long table or array that stay: its ends, and between them rows that tell of errors, have a
/// value that is rare in their column, or the least or greatest number of it.
class RowPicker {
public:
    RowPicker(std::size_t rows, const CondensingConfig& config);

    /// The row stays, whatever the limits are.
    void keep(std::size_t row) { keeps_[row] = true; }
    void add_error(std::size_t row) { errors_.push_back(row); }
    void add_cell(std::size_t row, std::size_t column, std::string_view value);

    /// Whether each row stays. At least one that goes.
    [[nodiscard]] std::vector<bool> pick();

private:
    struct Place {
        std::size_t row = 0;
        std::size_t times = 0;
    };
    struct Column {
        std::size_t cells = 0;
        std::size_t numbers = 0;
        double least = 0;
        double greatest = 0;
        std::size_t least_row = 0;
        std::size_t greatest_row = 0;
        bool has_few_values = true;
        std::unordered_map<std::string_view, Place> values{};
    };

    void add_outlier(std::size_t row);
    void add_rare_values();
    void add_extremes();

    std::vector<bool> keeps_;
    std::size_t outliers_left_ = 0;
    std::vector<std::size_t> errors_{};
    std::vector<Column> columns_{};
};

/// Whether all of `text` is a number.
[[nodiscard]] std::optional<double> to_number(std::string_view text) noexcept;

}  // namespace whittle::inline v0::detail
