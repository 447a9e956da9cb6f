#include "call_costs.hpp"

#include <vector>

namespace whittle::cli {
namespace {

ReportedCost cost_under_chain(const evaluation::CallFigures& call, std::size_t profile) {
    const evaluation::CallCost& cost = call.costs[profile];
    return {.tokens = call.sent,
            .cached = call.cached_sent,
            .cost = cost.sent + cost.refetches,
            .refetches = cost.refetches};
}

ReportedCall& call_of(SessionReport& session_report, const evaluation::CallFigures& call) {
    if (call.call >= session_report.calls.size()) session_report.calls.resize(call.call + 1);
    return session_report.calls[call.call];
}

}  // namespace

void add_call_costs(SessionReport& session_report, const evaluation::Figures& under_chain) {
    session_report.base = "everything sent";
    for (const evaluation::CallFigures& figures : under_chain.by_call) {
        ReportedCall& call = call_of(session_report, figures);
        call.is_counted = figures.is_counted;
        call.recorded = {.tokens = figures.raw, .cached = figures.cached_raw, .cost = figures.costs.front().raw};
        call.sent = cost_under_chain(figures, 0);
    }
}

void add_call_costs(SessionReport& session_report, const evaluation::Figures& as_sent,
                    const evaluation::Figures& under_chain, std::size_t profile) {
    session_report.base = "as sent";
    for (const evaluation::CallFigures& figures : under_chain.by_call) {
        ReportedCall& call = call_of(session_report, figures);
        call.is_counted = figures.is_counted;
        call.sent = cost_under_chain(figures, profile);
    }
    for (const evaluation::CallFigures& figures : as_sent.by_call)
        call_of(session_report, figures).recorded = cost_under_chain(figures, profile);
}

}  // namespace whittle::cli
