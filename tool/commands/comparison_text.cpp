#include "comparison.hpp"

#include "shown.hpp"
#include "table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace whittle::cli {
namespace {

using evaluation::Age;
using evaluation::CostProfile;
using evaluation::EditCount;
using evaluation::Faults;
using evaluation::MoneySummary;
using evaluation::ProbeCount;
using evaluation::ProbeKind;
using evaluation::strata;
using evaluation::Stratum;
using evaluation::Summary;

constexpr std::size_t widest = 100;  // columns

std::string three(double value) { return fmt::format("{:.3f}", value); }
std::string two(double value) { return fmt::format("{:.2f}", value); }

/// "-" where nothing was needed.
std::string visible_share(const ProbeCount& count) {
    if (count.needed == 0) return "-";
    return three(static_cast<double>(count.visible) / static_cast<double>(count.needed));
}

/// "-" where nothing was needed.
std::string possible_share(const EditCount& count) {
    return count.needed == 0 ? "-" : three(static_cast<double>(count.possible) / static_cast<double>(count.needed));
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
    if (count.needed == 0) return "-";
    const auto percent = [&](std::int64_t part) {
        return std::lround(100.0 * static_cast<double>(part) / static_cast<double>(count.needed));
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

/// What the names of simple strategies say, and of presets: a line for each kind that is there.
std::string strategies_in_words(const Comparison& comparison) {
    struct Kind {
        std::string_view prefix;
        std::string_view words;
    };
    constexpr std::array kinds{
        Kind{"noop", "noop: everything is sent"},
        Kind{"mask",
             "mask10: a placeholder stands for results of 10 calls ago and older, at every call; _step25: only "
             "every 25 calls"},
        Kind{"clear", "clear30k_keep3: above 30,000 tokens placeholders stand for all results but the newest 3"},
        Kind{"headtail",
             "headtail_arrival: of long results the first 900 and the last 700 characters; _later: once two "
             "newer results are there"},
        Kind{"window", "window20: the messages of the newest 20 calls, and all of the user's"},
    };
    const auto has = [&](std::string_view type, std::string_view prefix) {
        return std::ranges::any_of(comparison.strategies, [&](const ComparedStrategy& strategy) {
            return strategy.type == type && strategy.name.starts_with(prefix);
        });
    };
    std::string text;
    for (const auto& [prefix, words] : kinds) {
        if (has("control", prefix)) text.append(words).append("\n");
    }
    std::vector<std::string> presets;
    for (const ComparedStrategy& strategy : comparison.strategies) {
        if (strategy.description == "a preset") presets.push_back(strategy.name);
    }
    if (!presets.empty())
        text += fmt::format("{}: presets of whittle; `whittle config show --preset {}` prints what it is\n",
                            fmt::join(presets, ", "), presets.front());
    return text;
}

class TextTables {
public:
    TextTables(const Comparison& comparison, bool colour, std::size_t columns)
        : comparison_(comparison), colour_(colour), columns_(columns), labels_(labels_of(comparison.strategies)) {
        for (const ComparedStrategy& strategy : comparison.strategies) rows_.push_back(rows_of(comparison, strategy));
        for (const ComparedRow& row : rows_.front()) {
            const auto in = [&](std::string_view name) { return row.stratum == name; };
            const bool is_size = in("under 20k") || in("20k-100k") || in("over 100k");
            const bool is_all = row.summary.sessions == rows_.front().front().summary.sessions;
            if (is_file(row.stratum) || in("all") || (is_size && !is_all)) strata_.push_back(row.stratum);
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
        std::string text =
            wrapped(fmt::format("{}: {}, {}, prices: {}", shown(stratum), numbered(first.sessions, "session"),
                                numbered(first.calls, "call"), comparison_.profiles.front().cache.name),
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
                three(money.with_refetches.median),
                three(money.with_line_refetches.median),
                two(money.harm),
                possible_share(summary.edits_of(0, 2)),
                possible_share(summary.edits_of(2)),
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
            for (const EditCount& count : summaries[i]->edits) cells.push_back(possible_share(count));
            table.add(std::move(cells));
        }
        return wrapped("edits possible, by calls since their old text was shown: share that is possible", columns_) +
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
                    cells.insert(cells.end(), {three(money.with_refetches.median), two(money.harm)});
                table.add(std::move(cells));
            }
        }
        const std::vector<std::size_t> profiles(comparison_.profiles.size(), 2);
        return table.folded_text(colour_, std::min(columns_, widest), profiles);
    }

    [[nodiscard]] std::string notes() const {
        return wrapped_lines(comparison_.bases.text() +
                                 "tokens: sent / recorded, with what stands in front of the messages. hit: share of "
                                 "the input that is read "
                                 "from the cache\n"
                                 "C/C0: money against sending everything; C*/C0: with what was needed and missing "
                                 "fetched again, an edit's "
                                 "old text in one piece; lines: where single lines of it are enough, as C*/C0 was up "
                                 "to November 2026; all "
                                 "medians of sessions. harm: share of sessions with C*/C0 above 1.02\n"
                                 "e<=10, e>10: share of the edits whose old text stood in one piece in the "
                                 "conversation, and still does in "
                                 "the request, by calls since it was shown\n"
                                 "id>10, l>10: share of the identifiers and lines that later calls needed and found in "
                                 "the request, by age "
                                 "in calls; newer ones, error lines and words of the user stand in the table of what "
                                 "later calls needed\n"
                                 "newest: share of the newest results that was shown. resets: calls that break what "
                                 "the cache holds, per "
                                 "call\n"
                                 "Tokens are characters / 4. Replies are the recorded ones: no model was run again, "
                                 "and how an agent would "
                                 "have gone on from another request is not known.\n" +
                                 strategies_in_words(comparison_),
                             std::min(widest, columns_));
    }

    const Comparison& comparison_;
    bool colour_;
    std::size_t columns_;
    std::vector<std::string> labels_;               // by strategy
    std::vector<std::vector<ComparedRow>> rows_{};  // by strategy
    std::vector<std::string> strata_{};
};

/// Of all that later calls needed.
ProbeCount needed_of(const Summary& summary) {
    ProbeCount sum;
    for (const auto& kind : summary.probes) {
        for (const ProbeCount& count : kind) sum += count;
    }
    return sum;
}

std::string percent_of_needed(std::int64_t part, std::int64_t needed) {
    return needed == 0 ? "-" : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(needed));
}

/// What most people want to know: one table, the cheapest first, and which is the one to take.
class FirstScreen {
public:
    FirstScreen(const Comparison& comparison, bool colour, std::size_t columns)
        : comparison_(comparison),
          colour_(colour),
          columns_(std::min(columns, widest)),
          labels_(labels_of(comparison.strategies)) {
        for (const ComparedStrategy& strategy : comparison.strategies) rows_.push_back(rows_of(comparison, strategy));
    }

    std::string text() {
        std::string text = table_of("all");
        for (const std::string& file : comparison_.files) {
            if (comparison_.by_file) text += "\n" + table_of(file);
        }
        return text + "\n" + wrapped_lines(notes(), columns_);
    }

private:
    struct Row {
        std::string label{};
        const Summary* summary = nullptr;
        [[nodiscard]] double cost() const { return summary->money.front().with_refetches.median; }
    };

    /// The cheapest first.
    [[nodiscard]] std::vector<Row> rows_in(std::string_view stratum) const {
        const auto summaries = summaries_of(rows_, stratum);
        std::vector<Row> rows;
        for (std::size_t i = 0; i < summaries.size(); ++i) {
            if (summaries[i] != nullptr) rows.push_back({labels_[i], summaries[i]});
        }
        std::ranges::stable_sort(rows, {}, &Row::cost);
        return rows;
    }

    [[nodiscard]] std::string table_of(const std::string& stratum) const {
        const std::vector<Row> rows = rows_in(stratum);
        if (rows.empty()) return {};
        const bool has_several = rows.front().summary->sessions > 1;
        std::vector<std::string> header{"strategy",      "tokens ratio",   "cost ratio",  "edits possible",
                                        "needed: shown", "needed: stored", "needed: lost"};
        if (has_several) header.insert(header.begin() + 3, "costlier sessions");
        Table table(std::move(header));
        for (const Row& row : rows) table.add(cells_of(row, has_several));
        const Summary& first = *rows.front().summary;
        const std::string whose = stratum == "all" ? std::string() : shown(stratum) + ": ";
        return wrapped(fmt::format("{}{}, {}; {}, the cheapest first", whose, numbered(first.sessions, "session"),
                                   numbered(first.calls, "call"),
                                   rows.size() == 1 ? "1 strategy" : fmt::format("{} strategies", rows.size())),
                       columns_) +
               "\n" + table.stacked_text(colour_, columns_) + "\n" + wrapped(verdict(rows), columns_) + faults_of(rows);
    }

    static std::vector<std::string> cells_of(const Row& row, bool has_several) {
        const Summary& summary = *row.summary;
        const EditCount edits = summary.edits_of();
        const ProbeCount needed = needed_of(summary);
        std::vector<std::string> cells{row.label,
                                       three(summary.tokens.pooled),
                                       three(row.cost()),
                                       percent_of_needed(edits.possible, edits.needed),
                                       percent_of_needed(needed.visible, needed.needed),
                                       percent_of_needed(needed.recoverable, needed.needed),
                                       percent_of_needed(needed.lost, needed.needed)};
        if (has_several) cells.insert(cells.begin() + 3, fmt::format("{:.0f} %", 100.0 * summary.money.front().harm));
        return cells;
    }

    /// Whether an agent can work with what is sent.
    static bool keeps_enough(const Summary& summary) {
        const EditCount edits = summary.edits_of();
        const ProbeCount needed = needed_of(summary);
        return 1'000 * needed.lost <= needed.needed && 10 * edits.possible >= 9 * edits.needed &&
               faults_text(summary).empty();
    }

    static std::string verdict(const std::vector<Row>& rows) {
        constexpr std::string_view enough =
            "loses at most 1 in 1,000 of what later calls needed, leaves 90 % of the edits possible and has no fault";
        const auto named = [](const Row& row) { return fmt::format("{} ({})", row.label, three(row.cost())); };
        const Row& cheapest = rows.front();
        if (cheapest.cost() >= 1.0) return "Nothing here is cheaper than sending everything.";
        const auto kept = std::ranges::find_if(rows, [](const Row& row) { return keeps_enough(*row.summary); });
        if (kept == rows.end()) return fmt::format("Cheapest: {}. No strategy here {}.", named(cheapest), enough);
        if (kept == rows.begin()) return fmt::format("Cheapest: {}. It {}.", named(cheapest), enough);
        return fmt::format("Cheapest: {}. Cheapest that {}: {}.", named(cheapest), enough, named(*kept));
    }

    [[nodiscard]] std::string faults_of(const std::vector<Row>& rows) const {
        std::string text;
        for (const Row& row : rows) {
            const std::string faults = faults_text(*row.summary);
            if (!faults.empty()) text += wrapped(fmt::format("  {}: {}", row.label, faults), columns_);
        }
        return text.empty() ? text
                            : "Faults, in calls (of a cache that is broken again and again, in sessions):\n" + text;
    }

    /// What the headings mean, and by which prices.
    [[nodiscard]] std::string notes() const {
        const bool has_several = comparison_.file_of.size() > 1;
        std::string text =
            "tokens ratio: input of all calls, over sending everything; what stands in front of the messages is "
            "counted "
            "(in `whittle replay` it is not). Tokens are characters / 4\n";
        text += fmt::format(
            "cost ratio: what the calls cost, over sending everything; output is paid too, and so is fetching again "
            "what "
            "was needed and missing{}. Prices: {}\n",
            has_several ? "; median of the sessions" : "",
            comparison_.profiles.front().cache.name == "billed" ? "each session's own"
                                                                : comparison_.profiles.front().cache.name);
        if (has_several) text += "costlier sessions: those with a cost ratio above 1.02\n";
        text +=
            "edits possible: edits of the recording whose old text still stands in one piece in the request, where the "
            "agent can copy it\n"
            "needed: names, numbers, lines and words of the user that later calls used, and that are shown in the "
            "request, stored (to be read back) or lost\n";
        text += comparison_.bases.text();
        text +=
            "Replies are the recorded ones: no model was run again, and how an agent would have gone on from another "
            "request is not known.\n";
        return text + strategies_in_words(comparison_) +
               "--all: more figures, by size of sessions, by age of what was needed, and for other prices\n";
    }

    const Comparison& comparison_;
    bool colour_;
    std::size_t columns_;
    std::vector<std::string> labels_;               // by strategy
    std::vector<std::vector<ComparedRow>> rows_{};  // by strategy
};

}  // namespace

std::string comparison_text(const Comparison& comparison, bool colour, std::size_t columns) {
    return comparison.all ? TextTables(comparison, colour, columns).text()
                          : FirstScreen(comparison, colour, columns).text();
}

}  // namespace whittle::cli
