#include "comparison.hpp"

#include "masked.hpp"
#include "shown.hpp"
#include "table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

namespace whittle::cli {
namespace {

using evaluation::Age;
using evaluation::ages;
using evaluation::CostProfile;
using evaluation::edit_age_names;
using evaluation::edit_ages;
using evaluation::EditTable;
using evaluation::Faults;
using evaluation::Figures;
using evaluation::Money;
using evaluation::MoneySummary;
using evaluation::probe_kinds;
using evaluation::ProbeCount;
using evaluation::ProbeKind;
using evaluation::ProbeTable;
using evaluation::Spread;
using evaluation::strata;
using evaluation::Stratum;
using evaluation::Summary;
using nlohmann::ordered_json;

constexpr std::size_t widest_name = 16;  // so that a row has at most 100 columns

template <typename IsIn>
void add_compared(std::vector<ComparedRow>& rows, std::string name, const ComparedStrategy& strategy, IsIn&& is_in) {
    std::vector<const Figures*> figures;
    for (std::size_t i = 0; i < strategy.figures.size(); ++i) {
        if (is_in(i)) figures.push_back(&strategy.figures[i]);
    }
    if (!figures.empty()) rows.push_back({std::move(name), summarize(figures)});
}

ordered_json to_json(const Spread& spread) {
    return {{"median", spread.median}, {"mean", spread.mean}, {"pooled", spread.pooled}};
}

ordered_json to_json(const ProbeCount& count) {
    return {
        {"needed", count.needed}, {"visible", count.visible}, {"recoverable", count.recoverable}, {"lost", count.lost}};
}

ordered_json to_json(const ProbeTable& probes) {
    ordered_json json;
    for (std::size_t kind = 0; kind < probe_kinds; ++kind) {
        ordered_json& rows = json[std::string(to_string(static_cast<ProbeKind>(kind)))];
        for (std::size_t age = 0; age < ages; ++age)
            rows[std::string(to_string(static_cast<Age>(age)))] = to_json(probes[kind][age]);
    }
    return json;
}

ordered_json to_json(const EditTable& edits) {
    ordered_json json;
    for (std::size_t age = 0; age < edit_ages; ++age)
        json[std::string(edit_age_names[age])] = {{"needed", edits[age].needed},
                                                  {"possible", edits[age].possible},
                                                  {"recoverable", edits[age].recoverable},
                                                  {"cut_on_arrival", edits[age].cut_on_arrival}};
    return json;
}

ordered_json to_json(const Faults& faults) {
    return {{"newest_result_dropped", faults.newest_result_dropped},
            {"newest_result_hidden", faults.newest_result_hidden},
            {"newest_user_changed", faults.newest_user_changed},
            {"newest_call_changed", faults.newest_call_changed},
            {"larger_than_raw", faults.larger_than_raw},
            {"over_window", faults.over_window},
            {"messages_not_restorable", faults.messages_not_restorable}};
}

ordered_json to_json(const std::optional<double>& value) {
    return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json to_json(const MoneySummary& money) {
    return {{"sent", to_json(money.sent)},
            {"sent_strict", to_json(money.sent_strict)},
            {"with_refetches", to_json(money.with_refetches)},
            {"with_refetches_strict", to_json(money.with_refetches_strict)},
            {"with_line_refetches", to_json(money.with_line_refetches)},
            {"harm", money.harm},
            {"harm_by_lines", money.line_harm},
            {"hit_raw", money.hit_raw},
            {"hit", money.hit_sent},
            {"exponent_raw", to_json(money.exponent_raw)},
            {"exponent", to_json(money.exponent_sent)}};
}

ordered_json to_json(const ComparedRow& row, const std::vector<CostProfile>& profiles) {
    const Summary& summary = row.summary;
    ordered_json json{{"stratum", row.stratum},
                      {"sessions", summary.sessions},
                      {"calls", summary.calls},
                      {"tokens", to_json(summary.tokens)},
                      {"peak_tokens", summary.peak},
                      {"peak_ratio", summary.peak_ratio},
                      {"resets", summary.resets},
                      {"resets_per_call", summary.resets_per_call},
                      {"deep_resets", summary.deep_resets},
                      {"invalidated_tokens", summary.invalidated},
                      {"over_window_raw", summary.over_window_raw},
                      {"newest_shown", summary.arrived_shown},
                      {"thrashed_sessions", summary.thrashed}};
    for (std::size_t p = 0; p < profiles.size(); ++p) json["money"][profiles[p].cache.name] = to_json(summary.money[p]);
    json["probes"] = to_json(summary.probes);
    json["edits"] = to_json(summary.edits);
    json["faults"] = to_json(summary.faults);
    return json;
}

ordered_json to_json(const Figures& figures, const std::string& file, const std::vector<CostProfile>& profiles) {
    ordered_json json{{"session", figures.session},
                      {"file", file},
                      {"source", figures.source},
                      {"kind", to_string(figures.kind)},
                      {"size", to_string(figures.size)},
                      {"calls", figures.calls},
                      {"tokens_raw", figures.raw},
                      {"tokens", figures.sent},
                      {"peak_raw", figures.peak_raw},
                      {"peak", figures.peak_sent},
                      {"resets", figures.resets},
                      {"deep_resets", figures.deep_resets},
                      {"invalidated_tokens", figures.invalidated},
                      {"removed_messages", figures.removed_messages},
                      {"refetches",
                       {{"from_store", figures.refetches_from_store},
                        {"by_rerun", figures.refetches_by_rerun},
                        {"from_user", figures.refetches_from_user}}},
                      {"side_calls", figures.side_calls},
                      {"side_tokens", figures.side_tokens}};
    for (std::size_t p = 0; p < profiles.size(); ++p) {
        const Money& money = figures.money[p];
        json["money"][profiles[p].cache.name] = {{"everything", money.raw},
                                                 {"sent", money.sent},
                                                 {"with_refetches", money.with_refetches},
                                                 {"with_line_refetches", money.with_line_refetches}};
    }
    json["probes"] = to_json(figures.probes);
    json["edits"] = to_json(figures.edits);
    json["faults"] = to_json(figures.faults);
    return json;
}

ordered_json to_json(const Comparison& comparison, const ComparedStrategy& strategy) {
    ordered_json json{{"name", strategy.name}, {"type", strategy.type}, {"description", strategy.description}};
    json["strata"] = ordered_json::array();
    for (const ComparedRow& row : rows_of(comparison, strategy))
        json["strata"].push_back(to_json(row, comparison.profiles));
    if (!comparison.sessions) return json;
    json["sessions"] = ordered_json::array();
    for (std::size_t i = 0; i < strategy.figures.size(); ++i) {
        const std::string& file = comparison.files[comparison.file_of[i]];
        json["sessions"].push_back(to_json(strategy.figures[i], file, comparison.profiles));
    }
    return json;
}

}  // namespace

std::vector<std::string> labels_of(const std::vector<ComparedStrategy>& strategies) {
    std::vector<std::string> labels;
    for (const ComparedStrategy& strategy : strategies) {
        const std::string file = printed(std::filesystem::path(strategy.name).filename().string());
        std::string label = clipped_to_width(shown(file), widest_name);
        if (std::ranges::find(labels, label) != labels.end())
            label = clipped_to_width(fmt::format("{}:{}", labels.size() + 1, shown(file)), widest_name);
        labels.push_back(std::move(label));
    }
    return labels;
}

std::vector<ComparedRow> rows_of(const Comparison& comparison, const ComparedStrategy& strategy) {
    std::vector<ComparedRow> rows;
    for (const Stratum& stratum : evaluation::strata())
        add_compared(rows, std::string(stratum.name), strategy,
                     [&](std::size_t i) { return stratum.has(strategy.figures[i]); });
    for (std::size_t file = 0; comparison.by_file && file < comparison.files.size(); ++file)
        add_compared(rows, comparison.files[file], strategy,
                     [&](std::size_t i) { return comparison.file_of[i] == file; });
    return rows;
}

std::string comparison_json(const Comparison& comparison) {
    ordered_json json{{"counter", "characters / 4"}, {"model_was_rerun", false}, {"window", comparison.window}};
    json["files"] = comparison.files;
    json["basis"] = comparison.bases.json();
    json["sessions"] = comparison.file_of.size();
    for (const CostProfile& profile : comparison.profiles) json["profiles"].push_back(profile.cache.name);
    for (const ComparedStrategy& strategy : comparison.strategies)
        json["strategies"].push_back(to_json(comparison, strategy));
    return shown_json(json) + "\n";
}

}  // namespace whittle::cli
