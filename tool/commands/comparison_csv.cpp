#include "comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::cli {
namespace {

using evaluation::ages;
using evaluation::CostProfile;
using evaluation::edit_ages;
using evaluation::EditTable;
using evaluation::MoneySummary;
using evaluation::probe_kinds;
using evaluation::ProbeCount;
using evaluation::ProbeKind;
using evaluation::ProbeTable;
using evaluation::Spread;
using evaluation::Summary;

std::string quoted(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

/// A name and a value for each column.
using Columns = std::vector<std::pair<std::string, std::string>>;

void add_spread(Columns& columns, const std::string& name, const Spread& spread) {
    columns.emplace_back(name + "_median", fmt::format("{:.6f}", spread.median));
    columns.emplace_back(name + "_mean", fmt::format("{:.6f}", spread.mean));
    columns.emplace_back(name + "_pooled", fmt::format("{:.6f}", spread.pooled));
}

void add_probes(Columns& columns, const ProbeTable& probes) {
    constexpr std::array<std::string_view, ages> suffixes{"1_10", "11_50", "over_50"};
    for (std::size_t kind = 0; kind < probe_kinds; ++kind) {
        for (std::size_t age = 0; age < ages; ++age) {
            const ProbeCount& count = probes[kind][age];
            const std::string name = fmt::format("{}_{}", to_string(static_cast<ProbeKind>(kind)), suffixes[age]);
            columns.emplace_back(name + "_needed", std::to_string(count.needed));
            columns.emplace_back(name + "_visible", std::to_string(count.visible));
            columns.emplace_back(name + "_recoverable", std::to_string(count.recoverable));
            columns.emplace_back(name + "_lost", std::to_string(count.lost));
        }
    }
}

void add_edits(Columns& columns, const EditTable& edits) {
    constexpr std::array<std::string_view, edit_ages> suffixes{"1_5", "6_10", "11_30", "over_30"};
    for (std::size_t age = 0; age < edit_ages; ++age) {
        const std::string name = fmt::format("edits_{}", suffixes[age]);
        columns.emplace_back(name + "_needed", std::to_string(edits[age].needed));
        columns.emplace_back(name + "_possible", std::to_string(edits[age].possible));
        columns.emplace_back(name + "_recoverable", std::to_string(edits[age].recoverable));
        columns.emplace_back(name + "_cut_on_arrival", std::to_string(edits[age].cut_on_arrival));
    }
}

void add_money(Columns& columns, const MoneySummary& money) {
    add_spread(columns, "sent", money.sent);
    add_spread(columns, "sent_strict", money.sent_strict);
    add_spread(columns, "with_refetches", money.with_refetches);
    add_spread(columns, "with_refetches_strict", money.with_refetches_strict);
    add_spread(columns, "with_line_refetches", money.with_line_refetches);
    columns.emplace_back("harm", fmt::format("{:.6f}", money.harm));
    columns.emplace_back("hit", fmt::format("{:.6f}", money.hit_sent));
    columns.emplace_back("exponent", money.exponent_sent ? fmt::format("{:.4f}", *money.exponent_sent) : "");
}

Columns columns_of(const ComparedStrategy& strategy, const ComparedRow& row, const CostProfile& profile,
                   const MoneySummary& money) {
    const Summary& summary = row.summary;
    Columns columns{{"strategy", quoted(strategy.name)},
                    {"stratum", quoted(row.stratum)},
                    {"profile", profile.cache.name},
                    {"sessions", std::to_string(summary.sessions)},
                    {"calls", std::to_string(summary.calls)}};
    add_spread(columns, "tokens", summary.tokens);
    columns.emplace_back("peak_tokens", std::to_string(summary.peak));
    columns.emplace_back("resets", std::to_string(summary.resets));
    columns.emplace_back("resets_per_call", fmt::format("{:.6f}", summary.resets_per_call));
    columns.emplace_back("newest_shown", fmt::format("{:.6f}", summary.arrived_shown));
    add_money(columns, money);
    add_edits(columns, summary.edits);
    add_probes(columns, summary.probes);
    const ordered_json faults = to_json(summary.faults);
    for (const auto& [name, number] : faults.items()) columns.emplace_back(name, number.dump());
    return columns;
}

}  // namespace

std::string comparison_csv(const Comparison& comparison) {
    std::string text;
    for (const ComparedStrategy& strategy : comparison.strategies) {
        for (const ComparedRow& row : rows_of(comparison, strategy)) {
            for (std::size_t p = 0; p < comparison.profiles.size(); ++p) {
                std::vector<std::string> names;
                std::vector<std::string> values;
                for (auto& [name, value] : columns_of(strategy, row, comparison.profiles[p], row.summary.money[p]))
                    names.push_back(name), values.push_back(value);
                if (text.empty()) text = fmt::format("{}\n", fmt::join(names, ","));
                text += fmt::format("{}\n", fmt::join(values, ","));
            }
        }
    }
    return text;
}

}  // namespace whittle::cli
