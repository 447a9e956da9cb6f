#include "report_cost.hpp"

#include "table.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace whittle::cli {
namespace {

/// With cents, and with hundredths of them below ten cents.
std::string dollars_in_report(double dollars) {
    const bool is_small = dollars > 0 && dollars < 0.1;
    if (is_small) return fmt::format("${:.4f}", dollars);
    const auto cents = static_cast<std::int64_t>(std::llround(dollars * 100));
    return fmt::format("${}.{:02}", grouped(cents / 100), cents % 100);
}

}  // namespace

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
    return cost.dollars ? dollars_in_report(*cost.dollars) : rounded(cost.tokens);
}

std::string cost_with_unit(const ReportCost& cost) {
    const std::string worth = rounded(cost.tokens) + " tokens' worth";
    return cost.dollars ? fmt::format("{} ({})", dollars_in_report(*cost.dollars), worth) : worth;
}

}  // namespace whittle::cli
