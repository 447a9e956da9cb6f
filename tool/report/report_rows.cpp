#include "report_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

namespace whittle::cli {
namespace {

/// The sum of rows that are not listed.
ReportRow rest_of(std::span<const ReportRow> rows) {
    ReportRow rest{.id = fmt::format("{} others", grouped(static_cast<std::int64_t>(rows.size()))),
                   .as_sent = {.dollars = 0.0},
                   .under_chain = {.dollars = 0.0}};
    for (const ReportRow& row : rows) {
        rest.calls += row.calls;
        rest.as_sent += row.as_sent;
        rest.under_chain += row.under_chain;
        if (!row.billed) continue;
        if (!rest.billed) rest.billed = {.dollars = 0.0};
        *rest.billed += *row.billed;
    }
    return rest;
}

}  // namespace

void sort_by_cost(std::vector<ReportRow>& rows) {
    const bool has_dollars =
        std::ranges::all_of(rows, [](const ReportRow& row) { return row.as_sent.dollars.has_value(); });
    std::ranges::stable_sort(rows, std::greater{}, [&](const ReportRow& row) {
        return has_dollars ? *row.as_sent.dollars : row.as_sent.tokens;
    });
}

OverviewRows::OverviewRows(const ReportOverview& all) : all_(all) {
    const std::span rows(all.rows);
    for (const ReportRow& row : rows) {
        has_dollars_ = has_dollars_ && row.as_sent.dollars && row.under_chain.dollars;
        has_bills_ = has_bills_ || row.billed;
        has_agents_ = has_agents_ || !row.agent.empty();
    }
    has_bills_ = has_bills_ && !has_dollars_;  // in dollars what was sent is the bill
    const std::size_t listed = rows.size() > max_report_rows ? max_report_rows - 1 : rows.size();
    for (const ReportRow& row : rows.first(listed)) add(row, false);
    if (listed < rows.size()) add(rest_of(rows.subspan(listed)), true);
}

std::vector<OverviewCell> OverviewRows::headings() const {
    std::vector<OverviewCell> cells{{"session"}, {"calls"}, {all_.base}, {"under " + all_.chain}, {"change"}};
    if (has_agents_) cells.insert(cells.begin() + 1, {"agent", true});
    if (has_dollars_) cells.push_back({all_.base + ", tokens' worth"});
    if (has_dollars_) cells.push_back({"under " + all_.chain + ", tokens' worth"});
    if (has_bills_) cells.push_back({"billed"});
    cells.push_back({"file", true});
    return cells;
}

std::string OverviewRows::height(const ReportCost& cost) const {
    return fmt::format("{:.6g}", has_dollars_ ? *cost.dollars : cost.tokens);
}

void OverviewRows::add(const ReportRow& row, bool is_rest) {
    const auto cost = [&](const ReportCost& one) { return has_dollars_ ? cost_text(one) : rounded(one.tokens); };
    const auto is_known = [&](const auto& bill) { return bill && (!has_dollars_ || bill->dollars); };
    OverviewLine line{.sent = height(row.as_sent), .under = height(row.under_chain), .shown = row.shown};
    line.is_rest = is_rest;
    line.cells = {{row.id.empty() ? "unnamed" : row.id},
                  {grouped(row.calls)},
                  {cost(row.as_sent)},
                  {cost(row.under_chain)},
                  {change_of(row.as_sent, row.under_chain)}};
    if (has_agents_) line.cells.insert(line.cells.begin() + 1, {row.agent, true});
    if (has_dollars_) line.cells.push_back({rounded(row.as_sent.tokens)});
    if (has_dollars_) line.cells.push_back({rounded(row.under_chain.tokens)});
    if (has_bills_) line.cells.push_back({is_known(row.billed) ? cost(*row.billed) : "-"});
    line.cells.push_back({row.file, true});
    lines_.push_back(std::move(line));
}

}  // namespace whittle::cli
