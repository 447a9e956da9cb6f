#include "report_cost.hpp"

#include "table.hpp"

#include <fmt/format.h>

namespace whittle::cli {

ReportCost& ReportCost::operator+=(const ReportCost& more) noexcept {
    tokens += more.tokens;
    if (dollars && more.dollars) {
        *dollars += *more.dollars;
    } else {
        dollars.reset();
    }
    return *this;
}

std::string change_of(const ReportCost& before, const ReportCost& after) {
    const bool has_dollars = before.dollars && after.dollars;
    return has_dollars ? change(*before.dollars, *after.dollars) : change(before.tokens, after.tokens);
}

double percent_saved(const ReportCost& before, const ReportCost& after) noexcept {
    const bool has_dollars = before.dollars && after.dollars;
    const double whole = has_dollars ? *before.dollars : before.tokens;
    const double rest = has_dollars ? *after.dollars : after.tokens;
    return whole > 0 ? 100.0 * (whole - rest) / whole : 0.0;
}

std::string cost_text(const ReportCost& cost) {
    return cost.dollars ? cli::dollars(*cost.dollars) : rounded(cost.tokens);
}

std::string cost_with_unit(const ReportCost& cost) {
    const std::string worth = rounded(cost.tokens) + " tokens' worth";
    return cost.dollars ? fmt::format("{} ({})", cli::dollars(*cost.dollars), worth) : worth;
}

}  // namespace whittle::cli
