#include "replay_page.hpp"
#include "shown.hpp"

#include "report_rows.hpp"
#include "spending_bars.hpp"
#include "whittle/base/detail/saturating.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace whittle::cli {
namespace {

constexpr std::size_t max_replayed_shown = 5;

std::optional<double> dollars_by(const std::optional<PricesPerMillion>& prices, double billed_tokens) {
    return prices ? std::optional(money_of(billed_tokens, *prices)) : std::nullopt;
}

}  // namespace

ReplayedSessions& ReplayedSessions::operator+=(const ReplayedSessions& other) {
    totals += other.totals;
    cost += other.cost;
    bases += other.bases;
    return *this;
}

RequestSums& RequestSums::operator+=(const RequestSums& more) noexcept {
    tokens = add_saturating(tokens, more.tokens);
    largest = std::max(largest, more.largest);
    resets += more.resets;
    return *this;
}

ReportComparison ReplayPage::comparison_of(const SessionCost& cost) const {
    return {.chain = chain_,
            .subject = is_preset_ ? "The preset " + chain_ : chain_,
            .base = "with everything sent",
            .before = {.tokens = cost.everything, .dollars = dollars_by(prices_, cost.billed_everything)},
            .after = {.tokens = cost.with_refetches, .dollars = dollars_by(prices_, cost.billed_with_refetches)}};
}

void ReplayPage::add(ReplayedReport&& replayed, const ReplayedSessions& session) {
    const ReportComparison comparison = comparison_of(session.cost);
    rows_.push_back({.id = replayed.id,
                     .file = replayed.file,
                     .calls = session.totals.calls,
                     .as_sent = comparison.before,
                     .under_chain = comparison.after});
    spending_ += replayed.spending;
    everything_ += replayed.everything;
    under_chain_ += replayed.under_chain;
    replayed.session_report.price = dollars_by(prices_, replayed.billed_per_counted);
    Shown shown{.cost = session.cost.everything, .row = rows_.size() - 1};
    shown.session.id = std::move(replayed.id);
    shown.session.facts = fmt::format("{}, {}", numbered(session.totals.calls, "model call"), replayed.file);
    shown.session.verdict =
        cost_sentence(comparison) + " " +
        changes_sentence(comparison.subject, replayed.session_report, session.cost.with_refetches - session.cost.sent);
    shown.session.tables.push_back(rules_table(replayed.session_report));
    shown.session.tables.push_back(
        costs_table("Costs of this session", replayed.everything, replayed.under_chain, session.cost));
    shown.session.session_report = std::move(replayed.session_report);
    shown_.push_back(std::move(shown));
    std::ranges::stable_sort(shown_, std::greater{}, &Shown::cost);
    if (shown_.size() > max_replayed_shown) shown_.pop_back();
}

ReportTable ReplayPage::costs_table(std::string caption, const RequestSums& everything, const RequestSums& under_chain,
                                    const SessionCost& cost) const {
    Table table({"calls of the model", "tokens sent", "largest call", "cache resets", "cost"});
    const auto add_row = [&](const std::string& name, const RequestSums& sums, const ReportCost& paid) {
        table.add({name, grouped(sums.tokens), grouped(sums.largest), grouped(sums.resets), cost_text(paid)});
    };
    const ReportComparison comparison = comparison_of(cost);
    add_row("everything sent", everything, comparison.before);
    add_row(chain_, under_chain, comparison.after);
    return {.caption = std::move(caption),
            .table = std::move(table),
            .note =
                "tokens sent: by all calls, with what stands in front of the messages; largest call: its tokens; "
                "cache resets: calls whose beginning had been changed, so that the provider's cache held less; "
                "cost: as above, with output and what was missing fetched again."};
}

ReportOverview ReplayPage::take_overview() {
    ReportOverview all{.chain = chain_, .base = "everything sent", .rows = std::move(rows_)};
    sort_by_cost(all.rows);
    all.note = fmt::format(
        "A name that is a link leads to the session, call by call: the {} that cost most. For another one run the same "
        "command on its file.",
        shown_.size());
    return all;
}

ReportPage ReplayPage::take(const ReplayedSessions& sessions, AdvisedChain advised,
                            const std::function<std::string(const std::string& cache)>& config) {
    const ReplayTotals& sum = sessions.totals;
    const ReportComparison comparison = comparison_of(sessions.cost);
    const bool saves = percent_saved(comparison.before, comparison.after) >= 0.5;
    ReportPage page{
        .title = fmt::format("What {}{} {}", is_preset_ ? "the preset " : "", chain_, saves ? "saves" : "costs")};
    page.lead = fmt::format(
        "{}, {}. Under {} they would have cost {}, compared with sending everything.{} No model was run again: the "
        "replies "
        "are the recorded ones.",
        numbered(sum.trajectories, "session"), numbered(sum.calls, "model call"), chain_,
        change_of(comparison.before, comparison.after),
        fetched_again_text(sessions.cost.with_refetches - sessions.cost.sent));
    page.figures = cost_figures_of(comparison, grouped(everything_.tokens), grouped(under_chain_.tokens));
    page.figures.push_back({.label = "can be restored",
                            .value = fmt::format("{:.0f} %", 100.0 * sum.restorable()),
                            .note = fmt::format("of {} bytes that were changed; {} are in the store",
                                                grouped(sum.changed_bytes), grouped(sum.bytes_stored))});
    page.units = units_text(prices_.has_value(), "the configuration has no prices (profile.prices)");
    page.spending = spending_bars(spending_, everything_.tokens);
    page.spending_note = "With everything sent. " + std::string(spending_bars_note);
    advised.example = rows_.empty() ? "" : rows_.front().file;
    for (Shown& shown : shown_) {
        rows_[shown.row].shown = page.sessions.size();
        page.sessions.push_back(std::move(shown.session));
    }
    if (sum.trajectories > 1) {
        page.overview = take_overview();
        page.sessions_note =
            fmt::format("The {} sessions that cost most. Choose another one here, or above.", page.sessions.size());
        page.tables.push_back(costs_table("Costs of all sessions", everything_, under_chain_, sessions.cost));
    }
    shown_.clear();
    if (sum.side_calls > 0)
        page.notes.push_back(
            fmt::format("Models that middlewares asked: {} calls, {} tokens of input, {} of output. "
                        "They are among the costs above.",
                        grouped(sum.side_calls), grouped(sum.side_input), grouped(sum.side_output)));
    page.advice = advice_text(comparison);
    if (advised.cache.empty() && advised.is_preset) advised.cache = sessions.bases.most_frequent_cache();
    advised.config = config(advised.cache);
    page.steps = steps_for(advised);
    page.notes.push_back(sessions.bases.text());
    return page;
}

}  // namespace whittle::cli
