#include "report_advice.hpp"
#include "scan_report.hpp"
#include "spending_bars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace whittle::cli {
namespace {

ReportCost cost_in_report(const StrategySum& sum) { return {.tokens = sum.with_repairs}; }

ReportComparison comparison_of(const StrategySum& recorded, const StrategySum& preset) {
    return {.chain = preset.name,
            .subject = "The preset " + preset.name,
            .base = "as sent",
            .before = cost_in_report(recorded),
            .after = cost_in_report(preset)};
}

ReportFigure billed_figure(const BillSum& bill) {
    const Usage& usage = bill.billed;
    const double cached = 100.0 * static_cast<double>(usage.cache_read) / static_cast<double>(input_of(usage));
    return {.label = "billed",
            .value = cost_text({.tokens = bill.billed_cost}),
            .note = fmt::format("tokens' worth, in {}; {} tokens of input{}, {} of output",
                                numbered(bill.billed_calls, "call"), grouped(input_of(usage)),
                                input_of(usage) > 0 ? fmt::format(", {:.0f} % from the cache", cached) : "",
                                grouped(usage.output))};
}

/// Why the bill is another figure than our count.
constexpr const char* note_of_difference =
    " What was billed is by the providers' own counts of tokens, and includes what is in no log, such as thinking: "
    "compare it with bills, and the other figures with each other.";

std::string in_percent(std::int64_t part, std::int64_t all) {
    return all == 0 ? "-" : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(all));
}

/// What each strategy costs: with what was missing fetched again, as everywhere in a report.
ReportTable strategies_in_report(std::string caption, const std::vector<StrategySum>& sums) {
    Table table({"if the calls had been sent", "cost", "change", "of it fetched again", "tokens sent", "largest call",
                 "cache resets", "in the store only", "lost"});
    for (const StrategySum& sum : sums) {
        table.add({sum.name, cost_text(cost_in_report(sum)), change(sums.front().with_repairs, sum.with_repairs),
                   in_percent(to_whole(sum.with_repairs - sum.cost), to_whole(sum.with_repairs)), grouped(sum.sent),
                   grouped(sum.peak), grouped(sum.resets), in_percent(sum.recoverable, sum.asked),
                   in_percent(sum.lost, sum.asked)});
    }
    return {.caption = std::move(caption),
            .table = std::move(table),
            .note =
                "as recorded: by the agents, with their own compactions; everything sent: without any. "
                "recommended, lossless and cheap are whittle's presets: the cheapest that keeps what the agent "
                "needs in sight, one that takes out only what can be fetched again as it was, and one that takes "
                "out old results sooner. cost: with what was missing fetched again, which is that part of it; "
                "change: beside as recorded; largest call: its tokens; cache resets: calls whose beginning had "
                "been changed, so that the provider's cache held less; in the store only, and lost: of the texts "
                "that later calls needed, those that the call had no longer but the store had, and those that "
                "neither had."};
}

const char* note_of_bills() {
    return "input: tokens that the cache did not have; cached: read from it; written: put into it; output: of the "
           "model; cost: all of it in tokens' worth, by each provider's prices; billed calls: those whose log has a "
           "bill. \"recorded\" are sessions in whittle's own form.";
}

const char* note_of_counts() {
    return "Sessions of which every call was billed: input tokens by the bill and by our count (characters / 4, and "
           "what stands in front of the messages); hit billed: the share of the input that the provider's cache had.";
}

}  // namespace

AdvisedChain ScanAdvice::chain_for(std::string cache, std::string example) const {
    std::string json = config ? config(cache) : "";
    return {.name = scanned_strategies()[1],
            .config = std::move(json),
            .cache = std::move(cache),
            .window = window,
            .is_preset = true,
            .example = std::move(example)};
}

ReportRow ScanReport::row_of(const ScannedSession& session) {
    ReportRow row{.id = session.id, .agent = session.agent, .file = session.file, .calls = session.bill.calls};
    row.as_sent.tokens = session.recorded.money.front().with_repairs;
    row.under_chain.tokens = session.strategies[1].money.front().with_repairs;
    if (session.bill.billed_calls > 0) row.billed = ReportCost{.tokens = session.bill.billed_cost};
    return row;
}

/// Takes the stories of the dearest along.
void ScanReport::take_sessions(ReportPage& page) {
    for (Dear& dear : dear_) {
        if (!dear.story) continue;
        rows_[dear.row].shown = page.sessions.size();
        ReportSession& session = page.sessions.emplace_back();
        session.id = dear.id;
        const std::string of_all =
            dear.calls == dear.calls_in_log ? "" : fmt::format(" of {} in the log", grouped(dear.calls_in_log));
        session.facts = fmt::format("{}, {}{}, {}", dear.agent, numbered(dear.calls, "call"), of_all, dear.file);
        session.verdict = cost_sentence(comparison_of(dear.strategies[0], dear.strategies[2])) + " " +
                          changes_sentence("The preset " + strategies_[1].name, *dear.story);
        session.tables.push_back(rules_table(*dear.story));
        session.tables.push_back(strategies_in_report("Strategies on this session", dear.strategies));
        session.story = std::move(*dear.story);
        dear.story.reset();
    }
}

/// All sessions in the order of their costs.
ReportOverview ScanReport::take_overview() {
    ReportOverview all{.chain = strategies_[1].name, .base = "as sent", .rows = std::move(rows_)};
    std::ranges::stable_sort(all.rows, std::greater{}, [](const ReportRow& row) { return row.as_sent.tokens; });
    all.note = fmt::format(
        "Costs by our count, with what was missing fetched again; billed: what the provider said, which is more where "
        "the log lacks some of it. A name that is a link leads to the session, call by call: the {} that cost most, by "
        "their bills where there are any. For another one run whittle scan FILE --html OUT.html.",
        dear_.size());
    return all;
}

ReportPage ScanReport::take_page(const ScanAdvice& advice) {
    const bool is_one = sessions() == 1;
    const ReportComparison comparison = comparison_of(recorded_, strategies_[1]);
    ReportPage page{.title = is_one ? "What the session cost" : "What the sessions cost"};
    page.lead = fmt::format(
        "{}, {}. With whittle's preset {}, which takes old tool results out of the calls and keeps them in a store, "
        "{} would have cost {}. That includes fetching again what it took out and a later call needed.",
        numbered(tables_.all.sessions, "session"), numbered(tables_.all.calls, "model call"), comparison.chain,
        is_one ? "it" : "they", change_of(comparison.before, comparison.after));
    page.figures = cost_figures_of(comparison, grouped(recorded_.sent), grouped(strategies_[1].sent));
    if (tables_.all.billed_calls > 0) page.figures.push_back(billed_figure(tables_.all));
    page.units = units_text(comparison.before.dollars.has_value());
    if (tables_.all.billed_calls > 0) page.units += note_of_difference;
    page.spending = spending_bars(spending_, recorded_.sent);
    page.spending_note = std::string(spending_bars_note);
    std::string example = dear_.empty() ? "" : dear_.front().file;
    take_sessions(page);
    if (!is_one) {
        page.overview = take_overview();
        page.sessions_note =
            fmt::format("The {} sessions that cost most. Choose another one here, or above.", page.sessions.size());
        std::vector<StrategySum> sums{recorded_};
        sums.insert(sums.end(), strategies_.begin(), strategies_.end());
        page.tables.push_back(strategies_in_report("Strategies on all sessions", sums));
    }
    page.tables.push_back(
        {.caption = "What was billed", .table = agents_table(), .note = note_of_bills() + (" " + bill_notes(tables_))});
    page.tables.push_back({.caption = "Our count beside the bill",
                           .table = counted_table(),
                           .note = note_of_counts() + (" " + agreement_text())});
    page.advice = advice_text(comparison);
    page.steps = steps_for(advice.chain_for(bases_.most_frequent_cache(), std::move(example)));
    page.notes.push_back(bases_.text());
    page.notes.push_back(compactions_text());
    page.notes.push_back(notes_text());
    return page;
}

}  // namespace whittle::cli
