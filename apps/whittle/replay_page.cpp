#include "replay_page.hpp"
#include "shown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace whittle::cli {
namespace {

constexpr std::size_t most_replayed_shown = 5;

/// "62 %" of how much less the chain's requests cost, with what was needed and missing fetched again.
std::string saved_text(const SessionCost& cost) {
    if (cost.everything <= 0) return "0 %";
    return fmt::format("{:.0f} %", 100.0 * (cost.everything - cost.with_repairs) / cost.everything);
}

std::string numbered_edits(const std::map<std::string, std::int64_t>& edits) {
    std::int64_t sum = 0;
    for (const auto& [reason, number] : edits) sum += number;
    return grouped(sum);
}

}  // namespace

ReplayedSessions& ReplayedSessions::operator+=(const ReplayedSessions& other) {
    totals += other.totals;
    cost += other.cost;
    bases += other.bases;
    return *this;
}

void ReplayPage::add(const std::string& id, const std::string& file, const ReplayedSessions& session,
                     SessionStory&& story) {
    const SessionCost& cost = session.cost;
    Shown shown{.cost = cost.everything};
    shown.session.id = id;
    shown.session.facts = fmt::format("{} model calls, {}", grouped(session.totals.calls), file);
    shown.session.verdict = fmt::format(
        "Everything sent, it would have cost {} tokens at the plain input price. {} made that {}: {} "
        "less, by {} edits of messages.",
        rounded(cost.everything), chain_, rounded(cost.with_repairs), saved_text(cost),
        numbered_edits(session.totals.edits));
    shown.session.tables.push_back(rules_table(story));
    shown.session.tables.push_back(costs_table("Costs of this session", session));
    shown.session.story = std::move(story);
    shown_.push_back(std::move(shown));
    std::ranges::stable_sort(shown_, std::greater{}, &Shown::cost);
    if (shown_.size() > most_replayed_shown) shown_.pop_back();
}

ReportTable ReplayPage::costs_table(std::string caption, const ReplayedSessions& sessions) const {
    Table table({"requests", "input", "largest", "resets", "cost"});
    const auto add_row = [&](const std::string& name, const RequestTotals& requests, double cost) {
        table.add({name, grouped(requests.input), grouped(requests.peak), grouped(requests.resets), rounded(cost)});
    };
    add_row("everything sent", sessions.totals.raw, sessions.cost.everything);
    add_row(chain_, sessions.totals.sent, sessions.cost.with_repairs);
    return {.caption = std::move(caption),
            .table = std::move(table),
            .note =
                "Input: tokens by the chain's own counter. Cost: in tokens at the plain input price, by characters "
                "/ 4; output, what stands in front of the messages, and what was needed and missing fetched again "
                "included. The chart below has the input alone, call by call."};
}

ReportPage ReplayPage::take(const ReplayedSessions& sessions) {
    const ReplayTotals& sum = sessions.totals;
    const SessionCost& cost = sessions.cost;
    ReportPage page{.title = fmt::format("What {} saves", chain_),
                    .lead = fmt::format("{} sessions, {} model calls. They cost {} less than with everything sent.",
                                        grouped(sum.trajectories), grouped(sum.calls), saved_text(cost))};
    page.figures = {{.label = "everything sent",
                     .value = rounded(cost.everything),
                     .note = fmt::format("tokens at the plain input price; {} sent in all", grouped(sum.raw.input))},
                    {.label = "under " + chain_,
                     .value = rounded(cost.with_repairs),
                     .note = fmt::format("{} sent in all", grouped(sum.sent.input))},
                    {.label = "less", .value = saved_text(cost), .note = "of the cost"},
                    {.label = "restorable",
                     .value = fmt::format("{:.0f} %", 100.0 * sum.restorable()),
                     .note = fmt::format("of {} bytes changed; {} in the store", grouped(sum.changed_bytes),
                                         grouped(sum.bytes_stored))}};
    for (Shown& shown : shown_) page.sessions.push_back(std::move(shown.session));
    shown_.clear();
    if (sum.trajectories > 1) page.tables.push_back(costs_table("Costs of all sessions", sessions));
    if (sum.side_calls > 0)
        page.notes.push_back(
            fmt::format("Models that middlewares asked: {} calls, {} tokens of input, {} of output. "
                        "They are among the costs above.",
                        grouped(sum.side_calls), grouped(sum.side_input), grouped(sum.side_output)));
    page.notes.push_back(sessions.bases.text());
    page.notes.push_back("No model was run again: the replies are the recorded ones.");
    return page;
}

}  // namespace whittle::cli
