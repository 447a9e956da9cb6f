#include "scan_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace whittle::cli {
namespace {

/// What agents sent, and what the first preset would have.
std::vector<ReportFigure> cost_figures(const StrategySum& recorded, const StrategySum& preset) {
    const double saved = recorded.cost - preset.with_repairs;
    return {{.label = "as sent, by our count",
             .value = rounded(recorded.cost),
             .note = fmt::format("tokens at the plain input price; {} sent in all", grouped(recorded.sent))},
            {.label = fmt::format("under {}", preset.name),
             .value = rounded(preset.with_repairs),
             .note = fmt::format("with what was missing fetched again; {} sent in all", grouped(preset.sent))},
            {.label = saved >= 0 ? "less" : "more",
             .value = fmt::format("{:.0f} %", recorded.cost > 0 ? std::abs(100.0 * saved / recorded.cost) : 0.0),
             .note = fmt::format("{} tokens' worth", rounded(std::abs(saved)))}};
}

/// `is_only`: the page says its cost already.
std::string verdict_of(const StrategySum& recorded, const StrategySum& preset, const SessionStory& story,
                       bool is_only) {
    std::int64_t edits = 0;
    std::int64_t less = 0;
    for (const StoryRule& rule : story.rules) {
        if (rule.fate == Fate::added) continue;
        edits += rule.messages;
        less += rule.tokens_before - rule.tokens;
    }
    const std::string cut =
        edits == 0 ? fmt::format("The preset {} would have cut nothing.", preset.name)
                   : fmt::format("The preset {} would have made {} that took {} tokens out of the requests to come.",
                                 preset.name, numbered(edits, "cut"), grouped(less));
    if (is_only) return cut;
    return fmt::format("By our count it cost {}, and would have cost {}, {}, with what was missing fetched again. {}",
                       rounded(recorded.cost), rounded(preset.with_repairs), change(recorded.cost, preset.with_repairs),
                       cut);
}

std::string billed_note(const Usage& billed) {
    return fmt::format("{} input, {} from the cache, {} into it, {} output", grouped(billed.input),
                       grouped(billed.cache_read), grouped(billed.cache_write), grouped(billed.output));
}

}  // namespace

ReportPage ScanReport::take_page() {
    const bool is_one = sessions() == 1;
    ReportPage page{.title = is_one ? "What the session cost" : "What the sessions cost", .lead = lead_text()};
    page.figures = cost_figures(recorded_, strategies_[1]);
    if (tables_.all.billed_calls > 0)
        page.figures.push_back(
            {.label = "billed", .value = rounded(tables_.all.billed_cost), .note = billed_note(tables_.all.billed)});
    for (Dear& dear : dear_) {
        if (!dear.story) continue;
        ReportSession& session = page.sessions.emplace_back();
        session.id = dear.id;
        const std::string of_all =
            dear.calls == dear.calls_in_log ? "" : fmt::format(" of {} in the log", grouped(dear.calls_in_log));
        session.facts = fmt::format("{}, {}{}, {}", dear.agent, numbered(dear.calls, "call"), of_all, dear.file);
        session.verdict = verdict_of(dear.strategies[0], dear.strategies[2], *dear.story, is_one);
        session.tables.push_back(rules_table(*dear.story));
        session.tables.push_back({.caption = "Strategies on this session",
                                  .table = strategies_table_of(dear.strategies),
                                  .note = strategies_note(dear.strategies.front())});
        session.story = std::move(*dear.story);
        dear.story.reset();
    }
    if (!is_one) {
        page.tables.push_back(
            {.caption = "Strategies on all sessions", .table = strategies_table(), .note = strategies_note(recorded_)});
        page.tables.push_back({.caption = "The dearest sessions", .table = dear_table()});
    }
    page.tables.push_back({.caption = "Where the tokens went", .table = spending_table(), .note = ages_text()});
    page.tables.push_back({.caption = "What was billed", .table = agents_table(), .note = bill_notes(tables_)});
    page.tables.push_back({.caption = "Our count beside the bill", .table = counted_table(), .note = agreement_text()});
    page.notes.push_back(compactions_text());
    page.notes.push_back(notes_text());
    page.notes.push_back(
        "The strips show the preset recommended beside everything sent: the input alone, and of it what the log has. "
        "The tables also count output, system text and tools that were billed and are in no log, and what was missing "
        "fetched again.");
    return page;
}

}  // namespace whittle::cli
