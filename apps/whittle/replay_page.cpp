#include "replay_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace whittle::cli {
namespace {

constexpr std::size_t most_replayed_shown = 5;

/// "62 %" of how much less the chain's requests cost.
std::string saved_text(const ReplayTotals& totals) {
    if (totals.raw.input_cost <= 0) return "0 %";
    return fmt::format("{:.0f} %", 100.0 * (totals.raw.input_cost - totals.sent.input_cost) / totals.raw.input_cost);
}

std::string numbered_edits(const std::map<std::string, std::int64_t>& edits) {
    std::int64_t sum = 0;
    for (const auto& [reason, number] : edits) sum += number;
    return grouped(sum);
}

}  // namespace

void ReplayPage::add(const std::string& id, const std::string& file, const ReplayTotals& totals, SessionStory&& story) {
    Shown shown{.cost = totals.raw.input_cost};
    shown.session.id = id;
    shown.session.facts = fmt::format("{} model calls, {}", grouped(totals.calls), file);
    shown.session.verdict = fmt::format(
        "Everything sent, its input would have cost {} tokens at the plain input price. {} made that {}: {} "
        "less, by {} edits of messages.",
        rounded(totals.raw.input_cost), chain_, rounded(totals.sent.input_cost), saved_text(totals),
        numbered_edits(totals.edits));
    shown.session.tables.push_back(rules_table(story));
    shown.session.tables.push_back(costs_table("Costs of this session", totals));
    shown.session.story = std::move(story);
    shown_.push_back(std::move(shown));
    std::ranges::stable_sort(shown_, std::greater{}, &Shown::cost);
    if (shown_.size() > most_replayed_shown) shown_.pop_back();
}

ReportTable ReplayPage::costs_table(std::string caption, const ReplayTotals& totals) const {
    Table table({"requests", "input", "cached", "written", "uncached", "hit rate", "peak", "resets", "cost"});
    const auto add_row = [&](const std::string& name, const RequestTotals& requests) {
        table.add({name, grouped(requests.input), grouped(requests.cached), grouped(requests.written),
                   grouped(requests.uncached), fmt::format("{:.3f}", requests.hit_rate()), grouped(requests.peak),
                   grouped(requests.resets), rounded(requests.input_cost)});
    };
    add_row("everything sent", totals.raw);
    add_row(chain_, totals.sent);
    return {.caption = std::move(caption),
            .table = std::move(table),
            .note = "Tokens by the chain's own counter; cost: of the input, in tokens at the plain input price."};
}

ReportPage ReplayPage::take(const ReplayTotals& sum) {
    ReportPage page{.title = fmt::format("What {} saves", chain_),
                    .lead = fmt::format("{} sessions, {} model calls. The input costs {} less than everything sent.",
                                        grouped(sum.trajectories), grouped(sum.calls), saved_text(sum))};
    page.figures = {{.label = "everything sent",
                     .value = rounded(sum.raw.input_cost),
                     .note = fmt::format("tokens at the plain input price; {} sent in all", grouped(sum.raw.input))},
                    {.label = "under " + chain_,
                     .value = rounded(sum.sent.input_cost),
                     .note = fmt::format("{} sent in all", grouped(sum.sent.input))},
                    {.label = "less", .value = saved_text(sum), .note = "of what the input cost"},
                    {.label = "restorable",
                     .value = fmt::format("{:.0f} %", 100.0 * sum.restorable()),
                     .note = fmt::format("of {} bytes changed; {} in the store", grouped(sum.changed_bytes),
                                         grouped(sum.bytes_stored))}};
    for (Shown& shown : shown_) page.sessions.push_back(std::move(shown.session));
    shown_.clear();
    if (sum.trajectories > 1) page.tables.push_back(costs_table("Costs of all sessions", sum));
    if (sum.side_calls > 0)
        page.notes.push_back(
            fmt::format("Models that middlewares asked: {} calls, {} tokens of input, {} of output. "
                        "They are not among the costs above.",
                        grouped(sum.side_calls), grouped(sum.side_input), grouped(sum.side_output)));
    page.notes.push_back("No model was run again: the replies are the recorded ones.");
    return page;
}

}  // namespace whittle::cli
