#include "report_advice.hpp"
#include "report_rows.hpp"
#include "scan_report.hpp"
#include "spending_bars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace whittle::cli {
namespace {

ReportCost cost_in_report(const StrategySum& sum) {
    const bool is_priced = sum.is_priced() && sum.priced_sessions == sum.sessions;
    return {.tokens = sum.with_refetches, .dollars = is_priced ? std::optional(sum.dollars) : std::nullopt};
}

ReportCost cost_of_bill(const BillSum& bill) {
    return {.tokens = bill.billed_cost, .dollars = bill.is_priced() ? std::optional(bill.dollars) : std::nullopt};
}

/// Tokens' worth of what was fetched again.
double refetches_of(const StrategySum& sum) { return sum.with_refetches - sum.cost; }

/// Of that strategy on one session.
ReportCost cost_on_session(const evaluation::Figures& figures, const ScannedSession& session) {
    StrategySum sum;
    sum.add(figures, session);
    return cost_in_report(sum);
}

ReportComparison comparison_of(const StrategySum& recorded, const StrategySum& preset) {
    return {.chain = preset.name,
            .subject = "The preset " + preset.name,
            .base = "as sent",
            .before = cost_in_report(recorded),
            .after = cost_in_report(preset)};
}

ReportFigure billed_figure(const BillSum& bill) {
    const Usage& usage = bill.billed;
    const std::int64_t input = input_of(usage);
    const double cached =
        100.0 * static_cast<double>(usage.cache_read) / static_cast<double>(std::max<std::int64_t>(input, 1));
    return {.label = "billed",
            .value = rounded(bill.billed_cost),
            .note = fmt::format("tokens' worth, in {}; {} tokens of input, {:.0f} % from the cache, {} of output",
                                numbered(bill.billed_calls, "call"), grouped(input), cached, grouped(usage.output))};
}

/// The sessions that are in no figure in front of it.
ReportFigure all_sessions_figure(const StrategySum& recorded, const StrategySum& preset) {
    return {.label = fmt::format("all {} sessions", grouped(recorded.sessions)),
            .value = change(recorded.with_refetches, preset.with_refetches),
            .note = fmt::format("{} tokens' worth in place of {}; {} no bill", rounded(preset.with_refetches),
                                rounded(recorded.with_refetches),
                                recorded.sessions - recorded.priced_sessions == 1
                                    ? "1 has"
                                    : grouped(recorded.sessions - recorded.priced_sessions) + " have")};
}

/// Where the figures in front of it are of all sessions, and only some have prices.
ReportFigure priced_figure(const StrategySum& recorded, const StrategySum& preset) {
    return {.label =
                fmt::format("billed, {} of {} sessions", grouped(recorded.priced_sessions), grouped(recorded.sessions)),
            .value = dollars(recorded.dollars),
            .note = fmt::format("under {} {}, {}; of the others no bill or no price is known", preset.name,
                                dollars(preset.dollars), change(recorded.dollars, preset.dollars))};
}

/// What the bill is beside the other figures.
std::string note_on_bill(bool is_priced) {
    if (is_priced)
        return " As sent is what was billed, by the prices of the models, and what the agents' own compactions took "
               "out and later calls needed, fetched again; under the preset it is that bill, changed as our count of "
               "the same calls changes.";
    return " What was billed is by the providers' own counts of tokens, and includes what is in no log, such as "
           "thinking: compare it with bills, and the other figures with each other.";
}

/// Begins with a figure, so that its column is one of figures.
std::string change_in_cell(const ReportCost& before, const ReportCost& after) {
    const std::string change = change_of(before, after);
    return change == "as much" ? "0 %" : change;
}

/// What each strategy costs: with what was missing fetched again, as everywhere in a report.
ReportTable strategies_in_report(std::string caption, const std::vector<StrategySum>& sums) {
    Table table({"if the calls had been sent", "cost", "change", "of it fetched again", "tokens sent", "largest call",
                 "cache resets", "in the store only", "lost"});
    for (const StrategySum& sum : sums) {
        table.add({sum.name, cost_text(cost_in_report(sum)),
                   change_in_cell(cost_in_report(sums.front()), cost_in_report(sum)),
                   percent_of(to_whole(sum.with_refetches - sum.cost), to_whole(sum.with_refetches)), grouped(sum.sent),
                   grouped(sum.peak), grouped(sum.resets), percent_of(sum.recoverable, sum.needed),
                   percent_of(sum.lost, sum.needed)});
    }
    return {.caption = std::move(caption),
            .table = std::move(table),
            .note =
                "as recorded: by the agents, with their own compactions; everything sent: without any. "
                "recommended, lossless and cheap are whittle's presets: the cheapest that keeps what the agent "
                "needs in sight, one that takes out only what can be fetched again as it was, and one that takes "
                "out old results sooner. cost: with what was missing fetched again, which is that part of it; "
                "change: against as recorded; largest call: its tokens; cache resets: calls whose beginning had "
                "been changed, so that the provider's cache held less; in the store only, and lost: of the texts "
                "that later calls needed, those that the call had no longer but the store had, and those that "
                "neither had."};
}

const char* note_of_counts() {
    return "Of sessions of which every call was billed: input tokens, cached or not, by the bill and by our count "
           "(characters / 4, and what stands in front of the messages); cache hits: the share of what was billed that "
           "the provider's cache had.";
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
    row.as_sent = cost_on_session(session.recorded, session);
    row.under_chain = cost_on_session(session.strategies[1], session);
    if (session.bill.billed_calls > 0) row.billed = cost_of_bill(session.bill);
    return row;
}

/// Moves the reports of the most expensive sessions out.
void ScanReport::take_sessions(ReportPage& page) {
    for (ExpensiveSession& expensive : expensive_) {
        if (!expensive.session_report) continue;
        rows_[expensive.row].shown = page.sessions.size();
        ReportSession& session = page.sessions.emplace_back();
        session.id = expensive.id;
        const std::string of_all = expensive.calls == expensive.calls_in_log
                                       ? ""
                                       : fmt::format(" of {} in the log", grouped(expensive.calls_in_log));
        session.facts =
            fmt::format("{}, {}{}, {}", expensive.agent, numbered(expensive.calls, "call"), of_all, expensive.file);
        session.verdict = cost_sentence(comparison_of(expensive.strategies[0], expensive.strategies[2])) + " " +
                          changes_sentence("The preset " + strategies_[1].name, *expensive.session_report,
                                           refetches_of(expensive.strategies[2]));
        session.tables.push_back(rules_table(*expensive.session_report));
        session.tables.push_back(strategies_in_report("Strategies on this session", expensive.strategies));
        session.session_report = std::move(*expensive.session_report);
        expensive.session_report.reset();
    }
}

/// All sessions in the order of their costs.
ReportOverview ScanReport::take_overview() {
    ReportOverview all{.chain = strategies_[1].name, .base = "as sent", .rows = std::move(rows_)};
    sort_by_cost(all.rows);
    const bool has_bills = tables_.all.billed_calls > 0;
    all.note = fmt::format(
        "{} A name that is a link leads to the session, call by call: the {} that cost most{}. For another one run "
        "whittle scan FILE --html OUT.html.",
        recorded_.priced_sessions == recorded_.sessions
            ? "as sent: what was billed, and what the agents' own compactions made them fetch again; tokens' worth: by "
              "our count, with what was missing fetched again; under recommended: the bill, changed as that count is."
        : has_bills ? "Costs are by our count, with what was missing fetched again. billed: what the provider said, "
                      "which is more where the log lacks some of it."
                    : "Costs are by our count, with what was missing fetched again.",
        expensive_.size(), has_bills ? ", by their bills where there are any" : "");
    return all;
}

ReportComparison ScanReport::comparison() const {
    ReportComparison all = comparison_of(recorded_, strategies_[1]);
    const bool are_most_priced = recorded_.is_priced() && 2 * recorded_.priced_sessions >= recorded_.sessions;
    if (all.before.dollars || !are_most_priced) return all;
    all.before = {.dollars = 0.0};
    all.after = {.dollars = 0.0};
    for (const ReportRow& row : rows_) {
        if (!row.as_sent.dollars) continue;
        all.before += row.as_sent;
        all.after += row.under_chain;
    }
    return all;
}

void ScanReport::put_head(ReportPage& page) const {
    const StrategySum& preset = strategies_[1];
    const ReportComparison compared = comparison();
    const bool has_dollars = compared.before.dollars.has_value();
    const bool is_part = has_dollars && recorded_.priced_sessions < recorded_.sessions;
    page.lead = fmt::format(
        "{}, {}. With whittle's preset {}, which takes old tool results out of the calls and keeps them in a store, "
        "{} would have cost {}.{}",
        numbered(tables_.all.sessions, "session"), numbered(tables_.all.calls, "model call"), preset.name,
        is_part           ? fmt::format("the {} that were billed", grouped(recorded_.priced_sessions))
        : sessions() == 1 ? "it"
                          : "they",
        change_of(compared.before, compared.after), fetched_again_text(preset.with_refetches - preset.cost));
    page.figures =
        cost_figures_of(compared, is_part ? "" : grouped(recorded_.sent), is_part ? "" : grouped(preset.sent));
    const bool is_billed = tables_.all.billed_calls > 0;
    if (is_part) {
        page.figures.front().label += fmt::format(", {} billed sessions", grouped(recorded_.priced_sessions));
        page.figures.push_back(all_sessions_figure(recorded_, preset));
    } else if (is_billed && !has_dollars) {
        page.figures.push_back(recorded_.priced_sessions > 0 ? priced_figure(recorded_, preset)
                                                             : billed_figure(tables_.all));
    }
    page.units = units_text(has_dollars, "not all sessions have a bill with prices that are known");
    if (is_billed) page.units += note_on_bill(has_dollars);
}

void ScanReport::put_numbers(ReportPage& page) const {
    if (sessions() > 1) {
        std::vector<StrategySum> sums{recorded_};
        sums.insert(sums.end(), strategies_.begin(), strategies_.end());
        page.tables.push_back(strategies_in_report("Strategies on all sessions", sums));
    }
    if (tables_.all.billed_calls == 0) return;
    page.tables.push_back({.caption = "What was billed",
                           .table = agents_table(),
                           .note = std::string(bill_columns_note) + bill_notes(tables_)});
    page.tables.push_back({.caption = "Our count against the bill",
                           .table = counted_table(),
                           .note = note_of_counts() + ("\n" + agreement_text())});
}

ReportPage ScanReport::take_page(const ScanAdvice& advice) {
    const bool is_one = sessions() == 1;
    ReportPage page{.title = is_one ? "What the session cost" : "What the sessions cost"};
    put_head(page);
    page.spending = spending_bars(spending_, recorded_.sent);
    page.spending_note = std::string(spending_bars_note);
    const ReportComparison compared = comparison();
    std::string example = expensive_.empty() ? "" : expensive_.front().file;
    take_sessions(page);
    if (!is_one) {
        page.overview = take_overview();
        page.sessions_note =
            fmt::format("The {} sessions that cost most. Choose another one here, or above.", page.sessions.size());
    }
    put_numbers(page);
    page.advice = advice_text(compared);
    page.steps = steps_for(advice.chain_for(bases_.most_frequent_cache(), std::move(example)));
    page.notes = {bases_.text(), compactions_text(), notes_text()};
    return page;
}

}  // namespace whittle::cli
