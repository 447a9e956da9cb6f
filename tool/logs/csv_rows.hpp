#pragma once

#include "logs.hpp"

#include <cstddef>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::logs {

/// The cells of the first row of comma-separated values, such as the names of their columns; nullopt if it has no end,
/// or a quote in the wrong place.
[[nodiscard]] std::optional<std::vector<std::string>> first_csv_row(std::string_view start);

/// Comma-separated values (RFC 4180) whose first row names the columns. Rows that are none are noted as damaged; blank
/// ones are passed over.
class CsvRows {
public:
    CsvRows(std::istream& in, const LogOptions& options, LogNotes& notes)
        : in_(&in), options_(&options), notes_(&notes) {}

    /// The next row, an object with a text for each cell that is not empty. nullopt at the end.
    [[nodiscard]] std::optional<nlohmann::ordered_json> next();
    /// On which the row of `next` began; from 1.
    [[nodiscard]] std::size_t line() const noexcept { return first_line_; }

private:
    using Cells = std::vector<std::string>;
    using Traits = std::istream::traits_type;

    void pass_mark();
    [[nodiscard]] std::optional<Cells> next_cells();
    [[nodiscard]] nlohmann::ordered_json to_row(Cells&& cells) const;

    std::istream* in_;
    const LogOptions* options_;
    LogNotes* notes_;
    std::optional<Cells> names_{};
    std::size_t line_ = 1;  // that is read next
    std::size_t first_line_ = 0;
};

}  // namespace whittle::inline v0::logs
