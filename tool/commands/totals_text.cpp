#include "totals_text.hpp"

#include "shown.hpp"
#include "terminal.hpp"

#include <fmt/format.h>

namespace whittle::cli {
namespace {

constexpr std::size_t longest_name = 44;

std::string clipped(std::string_view name) { return clipped_to_width(shown(name), longest_name); }

std::string percent(double share) { return fmt::format("{:.1f} %", 100.0 * share); }

std::string share_of(std::int64_t part, std::int64_t whole) {
    return ratio(static_cast<double>(part), static_cast<double>(whole));
}

std::string edits_text(const ReplayTotals& sum) {
    if (sum.edits.empty()) return "messages edited: none\n";
    std::string text;
    for (const auto& [reason, messages] : sum.edits)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", reason, grouped(messages));
    return fmt::format(
        "messages edited, by reason: {}\n"
        "removed bytes that can be restored: {} of {}, by undoing the edits; {} bytes are in the store\n",
        text, percent(sum.restorable()), grouped(sum.changed_bytes), grouped(sum.bytes_stored));
}

}  // namespace

std::vector<std::string> TotalsText::header() const {
    std::vector<std::string> header{"session", "calls", "tokens recorded", "tokens sent", "tokens ratio"};
    if (has_all_) header.insert(header.end(), {"largest recorded", "largest sent", "hits recorded", "hits sent"});
    header.emplace_back("cost ratio");
    if (has_all_) header.insert(header.end(), {"resets", "commits"});
    if (profile_.prices) header.insert(header.end(), {"money recorded", "money sent"});
    return header;
}

void TotalsText::add(std::string_view name, const ReplayTotals& totals, const SessionCost& cost) {
    const RequestTotals& raw = totals.raw;
    const RequestTotals& sent = totals.sent;
    std::vector<std::string> row{clipped(name), grouped(totals.calls), grouped(raw.input), grouped(sent.input),
                                 share_of(sent.input, raw.input)};
    if (has_all_)
        row.insert(row.end(), {grouped(raw.peak), grouped(sent.peak), share_of(raw.cached, raw.input),
                               share_of(sent.cached, sent.input)});
    row.push_back(ratio(cost.with_refetches, cost.everything));
    if (has_all_) row.insert(row.end(), {grouped(sent.resets), grouped(totals.commits)});
    if (profile_.prices)
        row.insert(row.end(), {amount(money_of(cost.billed_everything, *profile_.prices)),
                               amount(money_of(cost.billed_with_refetches, *profile_.prices))});
    table_.add(std::move(row));
}

/// What the headings mean, a line for each.
std::string TotalsText::words(const ReplayTotals& sum, const TotalsNotes& notes) const {
    std::string text =
        "calls: model calls. tokens: input of all these calls together, as it was recorded and as the chain sends it, "
        "without system text and tools that the recording lacks; ratio: sent / recorded\n";
    if (has_all_) {
        text +=
            "largest: input of the largest call\n"
            "hits: share of the input that the provider's cache gives, in whole messages and without what stands in "
            "front of them (`whittle compare` reads up to the middle of a message, and counts that too)\n"
            "resets: calls that break what the cache holds by more than 64 tokens. commits: changes that the chain "
            "made, each of one message or several\n";
    }
    text +=
        "cost ratio: what the calls cost under the chain, over sending everything; output is paid too, and so is "
        "fetching again what was needed and missing. Its tokens are characters / 4\n";
    if (sum.trajectories > 1)
        text += "The total's ratios are of the sums; `whittle compare` has the median of the sessions' cost ratios\n";
    if (profile_.prices)
        text +=
            "money: the same costs in the currency of profile.prices, for the tokens that the provider bills where "
            "bills say how many\n";
    return wrapped_lines(text + notes.basis, table_columns());
}

std::string TotalsText::cache_text(const ReplayTotals& sum, bool colour) const {
    Table split({"input tokens, by the cache of each session", "recorded", "sent"});
    const auto line = [&](std::string name, std::int64_t raw, std::int64_t sent) {
        split.add({std::move(name), grouped(raw), grouped(sent)});
    };
    line("read from the cache", sum.raw.cached, sum.sent.cached);
    line("written to the cache", sum.raw.written, sum.sent.written);
    line("not cached", sum.raw.uncached, sum.sent.uncached);
    line("invalidated", sum.raw.invalidated, sum.sent.invalidated);
    line("resets (calls)", sum.raw.resets, sum.sent.resets);
    return split.text(colour, table_columns()) +
           wrapped(
               "The first three add up to the input. invalidated: tokens of a request that the next one no longer "
               "begins with, so that the cache of them is lost",
               table_columns()) +
           fmt::format("output tokens: {}\n\n", grouped(sum.output));
}

std::string TotalsText::facts(const ReplayTotals& sum, const TotalsNotes& notes) const {
    std::string text = edits_text(sum);
    if (sum.raw.over_window > 0 || sum.sent.over_window > 0)
        text +=
            fmt::format("calls over the window of {} tokens: {} as recorded, {} as sent\n",
                        grouped(profile_.context_window), grouped(sum.raw.over_window), grouped(sum.sent.over_window));
    if (sum.side_calls > 0)
        text += fmt::format("calls of summarizers: {}, {} tokens in, {} out; among the costs\n",
                            grouped(sum.side_calls), grouped(sum.side_input), grouped(sum.side_output));
    text += fmt::format("message rules ({}) that a request breaks and the recording keeps: {}\n", notes.rules,
                        sum.violations.size());
    if (sum.not_undone > 0)
        text += fmt::format("sessions that undoing does not give back: {}\n", grouped(sum.not_undone));
    text = wrapped_lines(text, table_columns());
    if (!has_all_) text += "--all: more columns, and what the cache gives\n";
    return text + fmt::format("tokens counted by  {}\n", notes.counter);
}

std::string TotalsText::text(const ReplayTotals& sum, const TotalsNotes& notes) const {
    return table_.stacked_text(notes.colour, table_columns()) + "\n" + words(sum, notes) + "\n" +
           (has_all_ ? cache_text(sum, notes.colour) : std::string()) + facts(sum, notes);
}

}  // namespace whittle::cli
