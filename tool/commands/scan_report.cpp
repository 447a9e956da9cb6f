#include "scan_report.hpp"

#include "shown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace whittle::cli {
namespace {

constexpr std::size_t expensive_shown = 5;

}  // namespace

void CountedSum::add(const ScannedSession& session) {
    if (!session.is_comparable) return;
    ++sessions;
    reports_cache = reports_cache && session.reports_cache;
    billed += session.comparable;
    counted = add_saturating(counted, session.recorded.sent);
}

CountedSum& CountedSum::operator+=(const CountedSum& more) noexcept {
    sessions += more.sessions;
    reports_cache = reports_cache && more.reports_cache;
    billed += more.billed;
    counted = add_saturating(counted, more.counted);
    return *this;
}

void StrategySum::add(const evaluation::Figures& figures, const ScannedSession& session) {
    ++sessions;
    unpriced_calls += session.bill.billed_calls - session.bill.priced_calls;
    if (session.bill.priced_calls > 0) {
        const double own = session.recorded.money.back().sent;
        const double change = own > 0 ? figures.money.back().with_refetches / own - 1.0 : 0.0;
        ++priced_sessions;
        billed_dollars += session.bill.dollars;
        dollars += session.bill.dollars + change * session.compared_dollars;
    }
    cost += figures.money.front().sent;
    with_refetches += figures.money.front().with_refetches;
    sent = add_saturating(sent, figures.sent);
    peak = std::max(peak, figures.peak_sent);
    resets += figures.resets;
    for (const auto& kind : figures.probes) {
        for (const evaluation::ProbeCount& count : kind) {
            needed += count.needed;
            recoverable += count.recoverable;
            lost += count.lost;
        }
    }
}

std::string StrategySum::cost_text() const { return is_priced() ? cli::dollars(dollars) : rounded(with_refetches); }

ScanReport::ScanReport() {
    recorded_.name = "as recorded";
    csv_ =
        "agent,session,parent,file,calls,compactions,billed_calls,billed_input,billed_cache_read,billed_cache_write,"
        "billed_output,billed_cost,counted_input,counted_cost";
    for (const std::string& name : scanned_strategies()) {
        strategies_.push_back({.name = name});
        std::string column = name;
        std::ranges::replace(column, ' ', '_');
        csv_ += fmt::format(",cost_{0},cost_with_refetches_{0}", column);
    }
    csv_ += ",repeated_calls,counted_cost_with_refetches,priced_calls,dollars\n";
}

void ScanReport::add(ScannedSession&& session) {
    counted_[session.agent].add(session);
    recorded_.add(session.recorded, session);
    for (std::size_t i = 0; i < strategies_.size(); ++i) strategies_[i].add(session.strategies[i], session);
    spending_ += session.spending;
    bases_.add(session.basis);
    rows_.push_back(row_of(session));
    add_expensive(session);
    add_csv(session);
    add_compactions(session);
    if (!session.is_comparable || session.recorded.sent == 0) return;
    const auto billed_hit = hit_rate_of(session.comparable);
    const double hit =
        static_cast<double>(session.recorded.money.front().cached_sent) / static_cast<double>(session.recorded.sent);
    if (billed_hit && session.reports_cache) hit_differences_.push_back(hit - *billed_hit);
    token_ratios_.push_back(static_cast<double>(session.recorded.sent) /
                            static_cast<double>(input_of(session.comparable)));
}

void ScanReport::set_bills(Bills&& bills) {
    bills_ = std::move(bills);
    tables_ = tables_of(bills_);
}

void ScanReport::add_notes(const logs::LogNotes& notes) { notes_ += notes; }

bool ScanReport::would_be_listed(double cost) const noexcept {
    return expensive_.size() < expensive_shown || cost > expensive_.back().rank;
}

void ScanReport::add_expensive(ScannedSession& session) {
    const double rank = ranking_cost_of(session);
    if (!would_be_listed(rank)) return;
    const double own = session.recorded.money.front().with_refetches;
    ExpensiveSession expensive{
        .rank = rank,
        .row = rows_.size() - 1,
        .cost = session.bill.billed_calls > 0 ? session.bill.billed_cost : session.recorded.money.front().sent,
        .agent = session.agent,
        .id = session.id,
        .file = session.file,
        .calls = session.bill.calls,
        .calls_in_log = session.calls_in_log,
        .is_billed = session.bill.billed_calls > 0,
        .recommended = own > 0 ? session.strategies[1].money.front().with_refetches / own : 1,
        .billed = session.bill.billed,
        .strategies = {{.name = recorded_.name}},
        .session_report = std::move(session.session_report)};
    expensive.strategies.front().add(session.recorded, session);
    for (std::size_t i = 0; i < strategies_.size(); ++i) {
        expensive.strategies.push_back({.name = strategies_[i].name});
        expensive.strategies.back().add(session.strategies[i], session);
    }
    expensive_.push_back(std::move(expensive));
    std::ranges::stable_sort(expensive_, std::greater{}, &ExpensiveSession::rank);
    if (expensive_.size() > expensive_shown) expensive_.pop_back();
}

void ScanReport::add_compactions(const ScannedSession& session) {
    compactions_ += session.compactions;
    if (session.compactions == 0) return;
    ++compacted_sessions_;
    for (std::size_t kind = 0; kind < evaluation::probe_kinds; ++kind) {
        for (const evaluation::ProbeCount& count : session.recorded.probes[kind])
            lost_[std::string(evaluation::to_string(static_cast<evaluation::ProbeKind>(kind)))] += count;
    }
}

void ScanReport::add_csv(const ScannedSession& s) {
    csv_ += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{:.1f},{},{:.1f}", s.agent, csv_cell(s.id),
                        csv_cell(s.parent), csv_cell(s.file), s.bill.calls, s.compactions, s.bill.billed_calls,
                        s.bill.billed.uncached_input, s.bill.billed.cache_read, s.bill.billed.cache_write,
                        s.bill.billed.output, s.bill.billed_cost, s.recorded.sent, s.recorded.money.front().sent);
    for (const evaluation::Figures& figures : s.strategies)
        csv_ += fmt::format(",{:.1f},{:.1f}", figures.money.front().sent, figures.money.front().with_refetches);
    csv_ += fmt::format(",{},{:.1f},{},{}\n", s.bill.repeated_calls, s.recorded.money.front().with_refetches,
                        s.bill.priced_calls, dollars_cell(s.bill));
}

}  // namespace whittle::cli
