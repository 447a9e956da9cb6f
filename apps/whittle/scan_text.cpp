#include "agent_log.hpp"
#include "masked.hpp"
#include "scan_report.hpp"
#include "shown.hpp"
#include "table.hpp"
#include "terminal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace whittle::cli {
namespace {

constexpr std::size_t longest_scanned_name = 44;
constexpr std::size_t tools_shown = 10;
constexpr std::size_t projects_shown = 10;
constexpr std::string_view bill_note =
    "What providers said that they bill, in tokens; cost: in tokens at the plain input price, by what each provider "
    "takes for reading and writing its cache and for output.\n";
constexpr std::string_view units_note =
    "A cost is in tokens at the plain input price. \"billed\" is what the provider said; \"counted by us\" is our "
    "count "
    "of the same requests under a simulation of the cache that each bill shows, by which strategies compare. The two "
    "differ where a log lacks what was billed, such as thinking.\n";

/// The value that a share of them are below; between two of them in proportion.
double quantile(std::vector<double> values, double share) {
    std::ranges::sort(values);
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return std::lerp(values[below], values[above], place - static_cast<double>(below));
}

std::string percent_of(std::int64_t part, std::int64_t all) {
    return all == 0 ? "-" : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(all));
}

std::string hit_text(const Usage& usage) {
    const auto rate = hit_rate_of(usage);
    return rate ? fmt::format("{:.3f}", *rate) : "-";
}

std::string clipped_name(const std::string& name) {
    return clipped_to_width(shown(printed(name)), longest_scanned_name);
}

std::vector<std::pair<std::string, evaluation::Spent>> largest_first(
    const std::map<std::string, evaluation::Spent>& tools) {
    std::vector<std::pair<std::string, evaluation::Spent>> list(tools.begin(), tools.end());
    std::ranges::stable_sort(list, [](const auto& a, const auto& b) { return a.second.sent > b.second.sent; });
    return list;
}

}  // namespace

std::string ScanReport::text(bool colour) const {
    const std::size_t columns = table_columns();
    std::string text = places_text();
    if (sessions() > 0) {
        const Table counted = counted_table();
        constexpr std::array<std::size_t, 2> costs{2, 2};  // of each its ratio
        text += "\n" + wrapped_lines(lead_text() + "\n" + std::string(units_note), columns) + "\n" +
                agents_table().folded_text(colour, columns) + wrapped_lines(bill_notes(tables_), columns) +
                (counted.empty() ? "" : "\n" + counted.folded_text(colour, columns)) +
                wrapped_lines(agreement_text(), columns) + "\n" +
                strategies_table().folded_text(colour, columns, costs) + wrapped(strategies_note, text_columns()) +
                wrapped_lines(bases_.text(), text_columns()) + "\n" + spending_table().text(colour, columns) +
                wrapped_lines(ages_text(), columns) + "\n" + wrapped_lines(compactions_text(), columns) + "\n" +
                dear_table().text(colour, columns);
    }
    return text + wrapped_lines(none_counts_text() + notes_text(), columns);
}

std::string ScanReport::bill_text(bool colour) const {
    const std::size_t columns = table_columns();
    std::string text = places_text();
    if (sessions() > 0) {
        const auto table = [&](const BillSums& sums, const BillTableForm& form) {
            return bill_table(sums, tables_.all, form).folded_text(colour, columns) + "\n";
        };
        text += "\n" + wrapped_lines(bill_sentence(tables_.all) + "\n" + std::string(bill_note), columns) + "\n" +
                table(tables_.agents, {.heading = "billed"}) + table(tables_.models, {.heading = "by model"}) +
                table(tables_.projects, {.heading = "by project", .most = projects_shown, .are_paths = true}) +
                table(tables_.days, {.heading = "by day", .unnamed = "no time"}) +
                wrapped_lines(bill_notes(tables_), columns);
    }
    return text + wrapped_lines(none_counts_text() + notes_text(), columns);
}

std::string ScanReport::none_counts_text() const {
    if (sessions() > 0 || bills_.sessions().empty()) return "";
    return "\nNo model call is of the days that are asked for.\n" + bill_notes(tables_);
}

std::string ScanReport::lead_text() const {
    const StrategySum& preset = strategies_[1];
    return fmt::format(
        "{}\nBy our count they cost {} as sent, and would have cost {} under the preset {}, {}, with what was missing "
        "fetched again.",
        bill_sentence(tables_.all), rounded(recorded_.cost), rounded(preset.with_repairs), preset.name,
        change(recorded_.cost, preset.with_repairs));
}

/// A line for each place that is there, and one with the agents that have none.
std::string ScanReport::places_text() const {
    std::string text;
    std::vector<std::string> absent;
    const auto is_there = [&](const std::string& agent) {
        return std::ranges::any_of(places_,
                                   [&](const ScannedPlace& place) { return place.is_there && place.agent == agent; });
    };
    for (const ScannedPlace& place : places_) {
        if (place.is_there) {
            text += fmt::format("{}{}: {}\n", place.agent.empty() ? "" : place.agent + ": ", shown(place.path),
                                numbered(static_cast<std::int64_t>(place.files.size()), "file"));
        } else if (!is_there(place.agent) && std::ranges::find(absent, place.agent) == absent.end()) {
            absent.push_back(place.agent);
        }
    }
    if (!absent.empty()) text += fmt::format("not there: {}\n", fmt::join(absent, ", "));
    return text;
}

Table ScanReport::agents_table() const { return bill_table(tables_.agents, tables_.all, {.heading = "billed"}); }

Table ScanReport::counted_table() const {
    Table counted({"counted by us", "sessions", "input billed", "counted", "counted / billed", "hit billed"});
    for (const auto& [agent, sum] : counted_) {
        if (sum.sessions == 0) continue;
        const std::int64_t billed_input = input_of(sum.billed);
        counted.add({agent, grouped(sum.sessions), grouped(billed_input), grouped(sum.counted),
                     ratio(static_cast<double>(sum.counted), static_cast<double>(billed_input)),
                     sum.tells_cache ? hit_text(sum.billed) : "-"});
    }
    return counted;
}

std::string ScanReport::agreement_text() const {
    if (token_ratios_.empty()) return "";
    const auto spread = [](const std::vector<double>& values, const char* form) {
        return fmt::format(fmt::runtime(form), quantile(values, 0.5), quantile(values, 0.1), quantile(values, 0.9));
    };
    const std::string hits = hit_differences_.empty() ? ""
                                                      : "; cache hit rate, ours less theirs " +
                                                            spread(hit_differences_, "{:+.3f} ({:+.3f}, {:+.3f})");
    return fmt::format("by session, median (a tenth below, a tenth above): counted / billed {}{}\n",
                       spread(token_ratios_, "{:.2f} ({:.2f}, {:.2f})"), hits);
}

Table strategies_table_of(const std::vector<StrategySum>& sums) {
    Table table({"counted by us", "cost", "ratio", "repaired", "ratio", "sent", "peak", "resets", "hidden", "lost"});
    for (const StrategySum& sum : sums) {
        table.add({sum.name, rounded(sum.cost), ratio(sum.cost, sums.front().cost), rounded(sum.with_repairs),
                   ratio(sum.with_repairs, sums.front().with_repairs), grouped(sum.sent), grouped(sum.peak),
                   grouped(sum.resets), percent_of(sum.recoverable, sum.asked), percent_of(sum.lost, sum.asked)});
    }
    return table;
}

Table ScanReport::strategies_table() const {
    std::vector<StrategySum> sums{recorded_};
    sums.insert(sums.end(), strategies_.begin(), strategies_.end());
    return strategies_table_of(sums);
}

Table ScanReport::spending_table() const {
    Table table({"where tokens went", "messages", "tokens", "sent", "of these"});
    const auto add = [&](const std::string& name, const evaluation::Spent& spent) {
        table.add({clipped_name(name), grouped(spent.messages), grouped(spent.tokens), grouped(spent.sent),
                   percent_of(spent.sent, spending_.all.sent)});
    };
    const auto tools = largest_first(spending_.tools);
    evaluation::Spent rest;
    for (std::size_t i = 0; i < tools.size(); ++i) {
        if (i < tools_shown) add("results of " + (tools[i].first.empty() ? "?" : tools[i].first), tools[i].second);
        if (i >= tools_shown) rest += tools[i].second;
    }
    if (rest.messages > 0) add("results of other tools", rest);
    add("replies of the model", spending_.replies);
    add("words of the user", spending_.users);
    if (spending_.kept.messages > 0) add("left by compactions", spending_.kept);
    table.add_line();
    add("results that had stood there before", spending_.repeated);
    add("results that no later reply refers to", spending_.unused);
    return table;
}

std::string ScanReport::ages_text() const {
    std::string text = "sent, by age in calls: ";
    const std::array<const char*, evaluation::spending_ages> age_names{"new", "to 10", "to 50", "older"};
    for (std::size_t age = 0; age < age_names.size(); ++age)
        text += fmt::format("{}{} {}", age == 0 ? "" : ", ", age_names[age],
                            percent_of(spending_.sent_by_age[age], spending_.all.sent));
    return text + "\n";
}

std::string ScanReport::compactions_text() const {
    if (compactions_ == 0) return "compactions by the agents: none\n";
    std::string text = fmt::format("compactions by the agents: {} in {}; needed later and lost:", grouped(compactions_),
                                   numbered(compacted_sessions_, "session"));
    for (const auto& [kind, count] : lost_) {
        if (count.asked > 0) text += fmt::format(" {} {} of {},", kind, grouped(count.lost), grouped(count.asked));
    }
    if (text.ends_with(':')) text += " nothing was needed.";
    text.back() = '\n';
    return text;
}

Table ScanReport::dear_table() const {
    Table table({"dearest sessions", "agent", "calls", "billed", "counted", "recommended", "ratio"});
    for (const Dear& dear : dear_) {
        const double counted = dear.strategies.front().cost;
        const double recommended = dear.strategies[2].with_repairs;
        table.add({clipped_name(dear.id), dear.agent, grouped(dear.calls), dear.is_billed ? rounded(dear.cost) : "-",
                   rounded(counted), rounded(recommended), ratio(recommended, counted)});
    }
    return table;
}

std::string ScanReport::notes_text() const {
    std::string text;
    const auto add = [&](const std::string& line) { text += (text.empty() ? "\n" : "") + line + "\n"; };
    if (!notes_.left_out.empty()) add("in the logs and no part of a conversation: " + list_of_kinds(notes_.left_out));
    if (!passed_over_.empty()) add("files without a session: " + passed_over_.text());
    return text;
}

}  // namespace whittle::cli
