#include "comparison.hpp"

#include "masked.hpp"
#include "shown.hpp"
#include "table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace whittle::cli {
namespace {

using evaluation::Age;
using evaluation::ages;
using evaluation::CostProfile;
using evaluation::edit_age_names;
using evaluation::edit_ages;
using evaluation::EditCount;
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
    if (!figures.empty()) rows.push_back({std::move(name), summarise(figures)});
}

std::string three(double value) { return fmt::format("{:.3f}", value); }
std::string two(double value) { return fmt::format("{:.2f}", value); }

/// "-" where nothing was asked.
std::string visible_share(const ProbeCount& count) {
    if (count.asked == 0) return "-";
    return three(static_cast<double>(count.visible) / static_cast<double>(count.asked));
}

/// "-" where nothing was asked.
std::string whole_share(const EditCount& count) {
    return count.asked == 0 ? "-" : three(static_cast<double>(count.whole) / static_cast<double>(count.asked));
}

/// What no strategy should do, for the line below a table.
std::string faults_text(const Summary& summary) {
    const Faults& faults = summary.faults;
    std::vector<std::string> parts;
    const auto add = [&](std::int64_t number, std::string_view what) {
        if (number > 0) parts.push_back(fmt::format("{} {}", what, grouped(number)));
    };
    add(faults.newest_result_dropped, "newest result dropped");
    add(faults.newest_result_hidden, "newest result hidden");
    add(faults.newest_user_changed, "newest user message changed");
    add(faults.newest_call_changed, "newest call changed");
    add(faults.larger_than_raw, "larger than the recording");
    add(faults.over_window, "over the window");
    add(faults.messages_not_restorable, "messages not restorable");
    add(summary.thrashed, "sessions that thrash the cache");
    return fmt::format("{}", fmt::join(parts, ", "));
}

/// "91/5/4": percents that were visible, recoverable and lost.
std::string shares(const ProbeCount& count) {
    if (count.asked == 0) return "-";
    const auto percent = [&](std::int64_t part) {
        return std::lround(100.0 * static_cast<double>(part) / static_cast<double>(count.asked));
    };
    return fmt::format("{}/{}/{}", percent(count.visible), percent(count.recoverable), percent(count.lost));
}

/// The row of each strategy for one stratum.
std::vector<const Summary*> summaries_of(const std::vector<std::vector<ComparedRow>>& rows, std::string_view stratum) {
    std::vector<const Summary*> summaries;
    for (const auto& of_strategy : rows) {
        const auto row = std::ranges::find(of_strategy, stratum, &ComparedRow::stratum);
        summaries.push_back(row == of_strategy.end() ? nullptr : &row->summary);
    }
    return summaries;
}

class TextTables {
public:
    TextTables(const Comparison& comparison, bool colour, std::size_t columns)
        : comparison_(comparison), colour_(colour), columns_(columns), labels_(labels_of(comparison.strategies)) {
        for (const ComparedStrategy& strategy : comparison.strategies) rows_.push_back(rows_of(comparison, strategy));
        for (const ComparedRow& row : rows_.front()) {
            const auto in = [&](std::string_view name) { return row.stratum == name; };
            if (is_file(row.stratum) || in("all") || in("under 20k") || in("20k-100k") || in("over 100k"))
                strata_.push_back(row.stratum);
        }
    }

    std::string text() {
        std::string text;
        for (const std::string& stratum : strata_) text += table_of(stratum) + "\n";
        text += table_of_edits() + "\n";
        text += table_of_probes() + "\n";
        if (comparison_.profiles.size() > 1) text += table_of_profiles() + "\n";
        return text + notes();
    }

private:
    static constexpr std::size_t widest = 100;  // columns

    static bool is_file(const std::string& stratum) {
        return std::ranges::find(strata(), stratum, &Stratum::name) == strata().end();
    }

    [[nodiscard]] std::string table_of(const std::string& stratum) const {
        const auto summaries = summaries_of(rows_, stratum);
        Table table({"strategy", "tokens", "hit", "C/C0", "C*/C0", "lines", "harm", "e<=10", "e>10", "id>10", "l>10",
                     "newest", "resets"});
        for (std::size_t i = 0; i < summaries.size(); ++i)
            if (summaries[i] != nullptr) table.add(cells_of(labels_[i], *summaries[i]));
        const Summary& first = *summaries.front();
        std::string text = wrapped(fmt::format("{}: {} sessions, {} calls, {}", shown(stratum), grouped(first.sessions),
                                               grouped(first.calls), comparison_.profiles.front().cache.name),
                                   columns_);
        text += table.folded_text(colour_, columns_);
        if (stratum == "all") text += faults_of(summaries);
        return text;
    }

    static std::vector<std::string> cells_of(const std::string& label, const Summary& summary) {
        using enum ProbeKind;
        const MoneySummary& money = summary.money.front();
        return {label,
                three(summary.tokens.pooled),
                three(money.hit_sent),
                three(money.sent.median),
                three(money.with_repairs.median),
                three(money.with_line_repairs.median),
                two(money.harm),
                whole_share(summary.edits_of(0, 2)),
                whole_share(summary.edits_of(2)),
                visible_share(summary.probes_of(action_id, Age::middle)),
                visible_share(summary.probes_of(action_line, Age::middle)),
                two(summary.arrived_shown),
                three(summary.resets_per_call)};
    }

    [[nodiscard]] std::string faults_of(const std::vector<const Summary*>& summaries) const {
        std::string text;
        for (std::size_t i = 0; i < summaries.size(); ++i) {
            const std::string faults = faults_text(*summaries[i]);
            if (!faults.empty()) text += wrapped(fmt::format("  {}: {}", labels_[i], faults), columns_);
        }
        return text.empty() ? text : "calls (or sessions) with faults:\n" + text;
    }

    [[nodiscard]] std::string table_of_edits() const {
        Table table({"all sessions", "edits 1-5", "6-10", "11-30", "over 30"});
        const auto summaries = summaries_of(rows_, "all");
        for (std::size_t i = 0; i < summaries.size(); ++i) {
            std::vector<std::string> cells{labels_[i]};
            for (const EditCount& count : summaries[i]->edits) cells.push_back(whole_share(count));
            table.add(std::move(cells));
        }
        return wrapped("edits possible, by calls since their old text was shown: share of whole", columns_) +
               table.folded_text(colour_, columns_);
    }

    [[nodiscard]] std::string table_of_probes() const {
        using enum ProbeKind;
        Table table({"all sessions", "id 1-10", "11-50", ">50", "line 1-10", "11-50", ">50", "error", "user"});
        const auto summaries = summaries_of(rows_, "all");
        for (std::size_t i = 0; i < summaries.size(); ++i) {
            std::vector<std::string> cells{labels_[i]};
            for (const ProbeKind kind : {action_id, action_line}) {
                for (const Age age : {Age::recent, Age::middle, Age::old})
                    cells.push_back(shares(summaries[i]->probes_of(kind, age, age)));
            }
            for (const ProbeKind kind : {error, constraint}) cells.push_back(shares(summaries[i]->probes_of(kind)));
            table.add(std::move(cells));
        }
        constexpr std::array<std::size_t, 2> kinds{3, 3};  // of each the ages
        return wrapped("what later calls needed, by age in calls: percent visible/recoverable/lost", columns_) +
               table.folded_text(colour_, columns_, kinds);
    }

    [[nodiscard]] std::string table_of_profiles() const {
        std::vector<std::string> header{"C*/C0 median, harm"};
        for (const CostProfile& profile : comparison_.profiles)
            header.insert(header.end(), {profile.cache.name, "harm"});
        Table table(std::move(header));
        for (const std::string& stratum : strata_) {
            if (is_file(stratum)) continue;
            const auto summaries = summaries_of(rows_, stratum);
            table.add_line();
            for (std::size_t i = 0; i < summaries.size(); ++i) {
                if (summaries[i] == nullptr) continue;
                std::vector<std::string> cells{fmt::format("{}, {}", stratum, labels_[i])};
                for (const MoneySummary& money : summaries[i]->money)
                    cells.insert(cells.end(), {three(money.with_repairs.median), two(money.harm)});
                table.add(std::move(cells));
            }
        }
        const std::vector<std::size_t> profiles(comparison_.profiles.size(), 2);
        return table.folded_text(colour_, std::min(columns_, widest), profiles);
    }

    [[nodiscard]] std::string notes() const {
        return wrapped_lines(comparison_.bases.text(), std::min(widest, columns_)) +
               wrapped(
                   "tokens: sent / recorded. hit: share read from the cache. C/C0: money against sending everything; "
                   "C*/C0: with what was needed and missing fetched again, an edit's old text in one piece; lines: "
                   "where single lines of it are enough, as C*/C0 was up to November 2026; all medians of sessions. "
                   "harm: share of sessions with C*/C0 above 1.02. e<=10, e>10: share of the edits whose old text "
                   "stood in one piece in the conversation, and still does in the request, by calls since it was "
                   "shown. id>10, l>10: share of the identifiers and lines that later calls needed and found in the "
                   "request, by age in calls; newer ones, error lines and words of the user stand below. newest: "
                   "share of the newest results that was shown. resets: of the cache, per call. Tokens are characters "
                   "/ 4. Replies are the recorded ones: no model was run again, and how an agent would have gone on "
                   "from another request is not known.",
                   std::min(widest, columns_));
    }

    const Comparison& comparison_;
    bool colour_;
    std::size_t columns_;
    std::vector<std::string> labels_;               // by strategy
    std::vector<std::vector<ComparedRow>> rows_{};  // by strategy
    std::vector<std::string> strata_{};
};

ordered_json to_json(const Spread& spread) {
    return {{"median", spread.median}, {"mean", spread.mean}, {"pooled", spread.pooled}};
}

ordered_json to_json(const ProbeCount& count) {
    return {
        {"asked", count.asked}, {"visible", count.visible}, {"recoverable", count.recoverable}, {"lost", count.lost}};
}

ordered_json to_json(const ProbeTable& probes) {
    ordered_json json;
    for (std::size_t kind = 0; kind < probe_kinds; ++kind) {
        ordered_json& rows = json[std::string(name_of(static_cast<ProbeKind>(kind)))];
        for (std::size_t age = 0; age < ages; ++age)
            rows[std::string(name_of(static_cast<Age>(age)))] = to_json(probes[kind][age]);
    }
    return json;
}

ordered_json to_json(const EditTable& edits) {
    ordered_json json;
    for (std::size_t age = 0; age < edit_ages; ++age)
        json[std::string(edit_age_names[age])] = {{"asked", edits[age].asked},
                                                  {"whole", edits[age].whole},
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
    return {{"c", to_json(money.sent)},
            {"c_strict", to_json(money.sent_strict)},
            {"c_star", to_json(money.with_repairs)},
            {"c_star_strict", to_json(money.with_repairs_strict)},
            {"c_star_by_lines", to_json(money.with_line_repairs)},
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
                      {"kind", name_of(figures.kind)},
                      {"size", name_of(figures.size)},
                      {"calls", figures.calls},
                      {"tokens_raw", figures.raw},
                      {"tokens", figures.sent},
                      {"peak_raw", figures.peak_raw},
                      {"peak", figures.peak_sent},
                      {"resets", figures.resets},
                      {"deep_resets", figures.deep_resets},
                      {"invalidated_tokens", figures.invalidated},
                      {"removed_messages", figures.removed_messages},
                      {"repairs",
                       {{"recovered", figures.repairs_recovered},
                        {"rerun", figures.repairs_rerun},
                        {"asked", figures.repairs_asked}}},
                      {"side_calls", figures.side_calls},
                      {"side_tokens", figures.side_tokens}};
    for (std::size_t p = 0; p < profiles.size(); ++p) {
        const Money& money = figures.money[p];
        json["money"][profiles[p].cache.name] = {{"c0", money.raw},
                                                 {"c", money.sent},
                                                 {"c_star", money.with_repairs},
                                                 {"c_star_by_lines", money.with_line_repairs}};
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

std::string comparison_text(const Comparison& comparison, bool colour, std::size_t columns) {
    return TextTables(comparison, colour, columns).text();
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
