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
constexpr std::string_view units_note =
    "A cost without a dollar sign is in tokens at the plain input price. \"billed\" is what the provider said; "
    "\"counted by us\" is our count of the same requests under a simulation of the cache that each bill shows, by "
    "which strategies compare. The two differ where a log lacks what was billed, such as thinking.\n";
constexpr std::string_view counted_note =
    "billed: input tokens, cached or not, of the sessions whose every call was billed (the others are not here); "
    "counted: those of the same calls by our count; cache hits: the share of what was billed that came from the "
    "cache\n";
constexpr std::string_view spending_note =
    "tokens: of these messages, each once; sent: in all requests together, since a message goes along with every later "
    "call; share: of what these messages sent (system text and tools are not here)\n";
constexpr std::string_view expensive_note =
    "as recorded and recommended: by our count of the same requests, with what calls needed and no longer had read "
    "again; ratio: of these two\n";

constexpr std::string_view next_note =
    "next: `--html report.html` draws where it went and the most expensive sessions call by call; `whittle config show "
    "--preset "
    "recommended` prints the configuration, and docs/quickstart.md puts it into an agent\n";

/// The value that a share of them are below; between two of them in proportion.
double quantile(std::vector<double> values, double share) {
    std::ranges::sort(values);
    const double location = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(location);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return std::lerp(values[below], values[above], location - static_cast<double>(below));
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
        const std::vector<std::size_t> costs =  // of each its ratio
            recorded_.priced_sessions > 0 ? std::vector<std::size_t>{1, 2, 2} : std::vector<std::size_t>{2, 2};
        text += "\n" + wrapped_lines(lead_text() + "\n" + std::string(units_note), columns) + "\n" +
                agents_table().folded_text(colour, columns) + bill_notes_text(columns) +
                (counted.empty() ? "" : "\n" + counted.folded_text(colour, columns)) +
                wrapped_lines((counted.empty() ? "" : std::string(counted_note)) + agreement_text(), columns) + "\n" +
                strategies_table().folded_text(colour, columns, costs) +
                wrapped_lines(strategies_note(recorded_) + bases_.text(), columns) + "\n" +
                spending_table().folded_text(colour, columns) +
                wrapped_lines(std::string(spending_note) + ages_text(), columns) + "\n" +
                wrapped_lines(compactions_text(), columns) + "\n" + expensive_table().folded_text(colour, columns) +
                wrapped_lines(std::string(expensive_note), columns) + "\n" +
                wrapped_lines(std::string(next_note), columns);
    }
    return text + wrapped_lines(none_counts_text() + notes_text(), columns);
}

std::string ScanReport::bill_text(bool colour) const {
    const std::size_t columns = table_columns();
    std::string text = places_text();
    if (sessions() > 0) {
        const auto table = [&](const BillSums& sums, const BillTableForm& form) {
            const bool is_shown = sums.size() > 1 || !sums.contains("");
            return is_shown ? bill_table(sums, tables_.all, form).folded_text(colour, columns) + "\n" : "";
        };
        text += "\n" + wrapped_lines(bill_sentence(tables_.all) + "\n", columns) + "\n" +
                table(tables_.agents, {.heading = "billed"}) + table(tables_.models, {.heading = "by model"}) +
                table(tables_.projects, {.heading = "by project", .most = projects_shown, .are_paths = true}) +
                table(tables_.days, {.heading = "by day", .unnamed = "no time"}) + bill_notes_text(columns);
    }
    return text + wrapped_lines(none_counts_text() + notes_text(), columns);
}

std::string ScanReport::bill_notes_text(std::size_t columns) const {
    return wrapped_lines(std::string(bill_columns_note) + bill_notes(tables_), columns);
}

std::string ScanReport::none_counts_text() const {
    if (sessions() > 0 || bills_.sessions().empty()) return "";
    return "\nNo model call is on or after --since.\n" + bill_notes(tables_);
}

std::string ScanReport::lead_text() const { return bill_sentence(tables_.all) + "\n" + comparison_text(); }

/// Like with like: what calls needed and no longer had is read again on both sides.
std::string ScanReport::comparison_text() const {
    const StrategySum& preset = strategies_[1];
    const std::string less = change(recorded_.comparable_cost(), preset.comparable_cost());
    const bool is_all = !recorded_.is_priced() || recorded_.priced_sessions == recorded_.sessions;
    const std::string of =
        is_all ? "they"
               : fmt::format("the {} with a bill", recorded_.priced_sessions == 1
                                                       ? "session"
                                                       : grouped(recorded_.priced_sessions) + " sessions");
    const bool is_as_billed = recorded_.is_priced() && recorded_.cost_text() == cli::dollars(recorded_.billed_dollars);
    const std::string own = is_as_billed ? "" : fmt::format("cost {} as recorded and ", recorded_.cost_text());
    return fmt::format(
        "By our count of the same requests {} {}would have cost {} under the preset {}, {}; {} fetching again what was "
        "taken out and later calls needed.",
        of, own, preset.cost_text(), preset.name, less, is_as_billed ? "that includes" : "both include");
}

/// A line for each place that is there, and one with the agents that have none.
std::string ScanReport::places_text() const {
    std::string text;
    std::vector<std::string> absent;
    const auto exists = [&](const std::string& agent) {
        return std::ranges::any_of(
            locations_, [&](const LogLocation& location) { return location.exists && location.agent == agent; });
    };
    for (const LogLocation& location : locations_) {
        if (location.exists) {
            text += fmt::format("{}{}: {}\n", location.agent.empty() ? "" : location.agent + ": ", shown(location.path),
                                numbered(static_cast<std::int64_t>(location.files.size()), "file"));
        } else if (!exists(location.agent) && std::ranges::find(absent, location.agent) == absent.end()) {
            absent.push_back(location.agent);
        }
    }
    if (!absent.empty()) text += fmt::format("not found: {}\n", fmt::join(absent, ", "));
    return text;
}

Table ScanReport::agents_table() const { return bill_table(tables_.agents, tables_.all, {.heading = "billed"}); }

Table ScanReport::counted_table() const {
    Table counted({"counted by us", "sessions", "billed", "counted", "counted / billed", "cache hits"});
    for (const auto& [agent, sum] : counted_) {
        if (sum.sessions == 0) continue;
        const std::int64_t billed_input = input_of(sum.billed);
        counted.add({agent, grouped(sum.sessions), grouped(billed_input), grouped(sum.counted),
                     ratio(static_cast<double>(sum.counted), static_cast<double>(billed_input)),
                     sum.reports_cache ? hit_text(sum.billed) : "-"});
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
    const bool has_dollars = sums.front().priced_sessions > 0;
    std::vector<std::string> header{"counted by us", "cost", "ratio",  "with refetches", "ratio",
                                    "sent",          "peak", "resets", "stored",         "lost"};
    if (has_dollars) header.insert(header.begin() + 1, "dollars");
    Table table(std::move(header));
    for (const StrategySum& sum : sums) {
        std::vector<std::string> row{sum.name,
                                     rounded(sum.cost),
                                     ratio(sum.cost, sums.front().cost),
                                     rounded(sum.with_refetches),
                                     ratio(sum.with_refetches, sums.front().with_refetches),
                                     grouped(sum.sent),
                                     grouped(sum.peak),
                                     grouped(sum.resets),
                                     percent_of(sum.recoverable, sum.needed),
                                     percent_of(sum.lost, sum.needed)};
        if (has_dollars) row.insert(row.begin() + 1, dollars(sum.dollars));
        table.add(std::move(row));
    }
    return table;
}

std::string strategies_note(const StrategySum& recorded) {
    std::string text =
        "cost: in tokens at the plain input price; with refetches: plus what calls needed and no longer had, read "
        "again; "
        "ratio: to the agents' own; sent: input tokens of all requests; peak: of the largest one; resets: calls before "
        "which an edit made more than 64 tokens of the cache useless; stored, lost: of what later calls needed, the "
        "share that only the store had, and that nothing had\n";
    if (recorded.priced_sessions > 0)
        text += fmt::format(
            "dollars: the bill{}, changed as the cost with refetches by the model's own prices is over the cost as "
            "recorded; "
            "sessions of more expensive models weigh more in them than in the ratios\n",
            recorded.priced_sessions == recorded.sessions && recorded.is_priced()
                ? ""
                : fmt::format(" of {}, as far as prices are known", numbered(recorded.priced_sessions, "session")));
    return text;
}

Table ScanReport::strategies_table() const {
    std::vector<StrategySum> sums{recorded_};
    sums.insert(sums.end(), strategies_.begin(), strategies_.end());
    return strategies_table_of(sums);
}

Table ScanReport::spending_table() const {
    Table table({"where tokens went", "messages", "tokens", "sent", "share"});
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
        if (count.needed > 0) text += fmt::format(" {} {} of {},", kind, grouped(count.lost), grouped(count.needed));
    }
    if (text.ends_with(':')) text += " nothing was needed.";
    text.back() = '\n';
    return text;
}

Table ScanReport::expensive_table() const {
    Table table({"most expensive sessions", "agent", "calls", "billed", "as recorded", "recommended", "ratio"});
    for (const ExpensiveSession& expensive : expensive_) {
        const StrategySum& own = expensive.strategies.front();
        const StrategySum& preset = expensive.strategies[2];
        const bool in_dollars = own.priced_sessions > 0;
        const std::string billed = in_dollars ? dollars(own.billed_dollars) : rounded(expensive.cost);
        table.add({clipped_name(expensive.id), expensive.agent, grouped(expensive.calls),
                   expensive.is_billed ? billed : "-", in_dollars ? dollars(own.dollars) : rounded(own.with_refetches),
                   in_dollars ? dollars(preset.dollars) : rounded(preset.with_refetches),
                   in_dollars ? ratio(preset.dollars, own.dollars) : ratio(preset.with_refetches, own.with_refetches)});
    }
    return table;
}

std::string ScanReport::notes_text() const {
    std::string text;
    const auto add = [&](const std::string& line) { text += (text.empty() ? "\n" : "") + line + "\n"; };
    if (!notes_.left_out.empty()) add("in the logs and no part of a conversation: " + list_of_kinds(notes_.left_out));
    if (!skipped_.empty()) add("files without a session: " + skipped_.text());
    return text;
}

}  // namespace whittle::cli
