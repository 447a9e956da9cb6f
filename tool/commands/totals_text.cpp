#include "totals_text.hpp"

#include "shown.hpp"
#include "terminal.hpp"

#include <fmt/format.h>

namespace whittle::cli {
namespace {

constexpr std::size_t longest_name = 44;

std::string clipped(std::string_view name) { return clipped_to_width(shown(name), longest_name); }

std::string percent(double share) { return fmt::format("{:.1f} %", 100.0 * share); }

std::string edits_text(const ReplayTotals& sum) {
    std::string text;
    for (const auto& [reason, messages] : sum.edits)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", reason, grouped(messages));
    return text.empty() ? "none" : text;
}

}  // namespace

std::vector<std::string> TotalsText::header() const {
    std::vector<std::string> header{"trajectory", "calls",   "tokens raw", "sent",       "ratio",  "peak raw",
                                    "sent",       "hit raw", "sent",       "cost ratio", "resets", "commits"};
    if (profile_.prices) header.insert(header.end(), {"money raw", "sent"});
    return header;
}

void TotalsText::add(std::string_view name, const ReplayTotals& totals, const SessionCost& cost) {
    const RequestTotals& raw = totals.raw;
    const RequestTotals& sent = totals.sent;
    std::vector<std::string> row{clipped(name),
                                 grouped(totals.calls),
                                 grouped(raw.input),
                                 grouped(sent.input),
                                 ratio(static_cast<double>(sent.input), static_cast<double>(raw.input)),
                                 grouped(raw.peak),
                                 grouped(sent.peak),
                                 ratio(static_cast<double>(raw.cached), static_cast<double>(raw.input)),
                                 ratio(static_cast<double>(sent.cached), static_cast<double>(sent.input)),
                                 ratio(cost.with_repairs, cost.everything),
                                 grouped(sent.resets),
                                 grouped(totals.commits)};
    if (profile_.prices)
        row.insert(row.end(), {amount(money_of(cost.billed_everything, *profile_.prices)),
                               amount(money_of(cost.billed_with_repairs, *profile_.prices))});
    table_.add(std::move(row));
}

std::string TotalsText::summary(const ReplayTotals& sum, const TotalsNotes& notes) const {
    Table split({fmt::format("input tokens ({})", profile_.cache.name), "raw", "sent"});
    const auto line = [&](std::string name, std::int64_t raw, std::int64_t sent) {
        split.add({std::move(name), grouped(raw), grouped(sent)});
    };
    line("  read from the cache", sum.raw.cached, sum.sent.cached);
    line("  written to the cache", sum.raw.written, sum.sent.written);
    line("  not cached", sum.raw.uncached, sum.sent.uncached);
    line("  invalidated", sum.raw.invalidated, sum.sent.invalidated);
    line("cache resets", sum.raw.resets, sum.sent.resets);
    if (profile_.context_window > 0) line("calls over the window", sum.raw.over_window, sum.sent.over_window);
    std::string text = split.text(notes.colour, table_columns());
    text += fmt::format(
        "\noutput tokens  {}\nmessages edited  {}\nbytes stored  {}\nremoved bytes that can be restored  {} of {}\n",
        grouped(sum.output), edits_text(sum), grouped(sum.bytes_stored), percent(sum.restorable()),
        grouped(sum.changed_bytes));
    if (sum.side_calls > 0)
        text += fmt::format("calls of summarisers  {}, {} tokens in, {} out\n", grouped(sum.side_calls),
                            grouped(sum.side_input), grouped(sum.side_output));
    std::string words =
        "cost ratio: what the calls cost, output and what was needed and missing fetched again included, over sending "
        "everything; tokens by characters / 4\n";
    if (profile_.prices)
        words +=
            "money: the same costs in the currency of profile.prices, for the tokens that the provider bills where "
            "bills say how many\n";
    text += wrapped_lines(words + notes.basis, table_columns());
    text += fmt::format("new violations of {}  {}\n", notes.rules, sum.violations.size());
    if (sum.not_undone > 0) text += fmt::format("sessions not given back by undoing  {}\n", grouped(sum.not_undone));
    text += fmt::format("tokens counted by  {}\n", notes.counter);
    return text;
}

std::string TotalsText::text(const ReplayTotals& sum, const TotalsNotes& notes) const {
    return table_.text(notes.colour, table_columns()) + "\n" + summary(sum, notes);
}

}  // namespace whittle::cli
