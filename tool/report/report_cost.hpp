#pragma once

#include <optional>
#include <string>

namespace whittle::cli {

/// What something costs: in tokens at the plain input price, and in dollars where all of it has a price.
struct ReportCost {
    double tokens = 0;
    std::optional<double> dollars{};

    /// Without dollars where one of them has none.
    ReportCost& operator+=(const ReportCost& more) noexcept;
};

/// "51 % less", by dollars where both have them.
[[nodiscard]] std::string change_of(const ReportCost& before, const ReportCost& after);
/// Per cent of `before` that `after` is less; below 0: it is more.
[[nodiscard]] double percent_saved(const ReportCost& before, const ReportCost& after) noexcept;

/// "$12.34", or else "1,234,567". The script writes the same.
[[nodiscard]] std::string cost_text(const ReportCost& cost);
/// "$12.34 (1,234,567 tokens' worth)", or else "1,234,567 tokens' worth".
[[nodiscard]] std::string cost_with_unit(const ReportCost& cost);

}  // namespace whittle::cli
