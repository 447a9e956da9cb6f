#include "spending_bars.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace whittle::cli {
namespace {

constexpr std::size_t max_tool_bars = 10;

ReportBar bar_of(std::string label, const evaluation::Spent& spent) {
    return {.label = std::move(label), .value = spent.sent, .detail = grouped(spent.messages)};
}

/// The largest, then the rest of them in one.
std::vector<ReportBar> tool_bars(const std::map<std::string, evaluation::Spent>& tools) {
    std::vector<std::pair<std::string, evaluation::Spent>> list(tools.begin(), tools.end());
    std::ranges::stable_sort(list, std::greater{}, [](const auto& tool) { return tool.second.sent; });
    std::vector<ReportBar> bars;
    evaluation::Spent rest;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (i >= max_tool_bars) {
            rest += list[i].second;
        } else {
            bars.push_back(bar_of("results of " + (list[i].first.empty() ? "?" : list[i].first), list[i].second));
        }
    }
    if (rest.messages > 0) bars.push_back(bar_of("results of other tools", rest));
    return bars;
}

ReportBars kinds_of(const evaluation::Spending& spending, std::int64_t front) {
    ReportBars bars{.caption = "Tokens by kind of message",
                    .heading = "kind of message",
                    .value_heading = "tokens sent",
                    .detail_heading = "messages",
                    .rows = tool_bars(spending.tools)};
    bars.rows.push_back(bar_of("replies of the model, with their calls of tools", spending.replies));
    bars.rows.push_back(bar_of("words of the user", spending.users));
    if (spending.kept.messages > 0) bars.rows.push_back(bar_of("left by the agent's own compactions", spending.kept));
    if (front > 0)
        bars.rows.push_back({.label = "system text and tools, in front of each call", .value = front, .detail = "-"});
    std::ranges::stable_sort(bars.rows, std::greater{}, &ReportBar::value);
    return bars;
}

ReportBars waste_of(const evaluation::Spending& spending) {
    return {.caption = "Of these, results that may have been for nothing",
            .heading = "tool results",
            .value_heading = "tokens sent",
            .detail_heading = "messages",
            .rows = {bar_of("no later reply repeats a name or number from it", spending.unused),
                     bar_of("the same text had stood there before", spending.repeated)}};
}

/// `front`: tokens of system text and tools, which have no age.
ReportBars ages_of(const evaluation::Spending& spending, std::int64_t front) {
    constexpr std::array<const char*, evaluation::spending_ages> names{"new in the call", "1 to 10", "11 to 50",
                                                                       "more than 50"};
    ReportBars bars{.caption = "Tokens by age of the message",
                    .heading = "calls since the message came",
                    .value_heading = "tokens sent"};
    for (std::size_t age = 0; age < names.size(); ++age)
        bars.rows.push_back({.label = names[age], .value = spending.sent_by_age[age]});
    if (front > 0) bars.rows.push_back({.label = "system text and tools, in each call", .value = front});
    return bars;
}

}  // namespace

std::vector<ReportBars> spending_bars(const evaluation::Spending& spending, std::int64_t sent) {
    const std::int64_t front = std::max<std::int64_t>(0, sent - spending.all.sent);
    std::vector<ReportBars> all{kinds_of(spending, front), waste_of(spending), ages_of(spending, front)};
    std::int64_t longest = 0;
    for (const ReportBars& bars : all)
        for (const ReportBar& bar : bars.rows) longest = std::max(longest, bar.value);
    for (ReportBars& bars : all) {
        bars.all = spending.all.sent + front;
        bars.longest = longest;
    }
    return all;
}

}  // namespace whittle::cli
