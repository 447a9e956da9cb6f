#include "bill_sums.hpp"

#include "cost_basis.hpp"
#include "whittle/base/detail/saturating.hpp"

#include <functional>
#include <utility>

namespace whittle::cli {
namespace {

/// Adds the counted calls of a session to rows: each call to that which `key_of` says.
void add_calls(BillSums& rows, const SessionBill& session,
               const std::function<std::string(const BilledCall&)>& key_of) {
    BillSums own;
    for (const BilledCall& call : session.calls) {
        if (!call.is_counted()) continue;
        BillSum& row = own[key_of(call)];
        row.sessions = 1;
        row.calls += call.has_reply ? 1 : 0;
        if (call.unrecorded_output > 0) row.early += {1, call.unrecorded_output};
        if (!call.usage) continue;
        row.billed_calls += call.requests;
        row.billed += *call.usage;
        row.dollars += call.dollars.value_or(0);
        row.priced_calls += call.dollars ? call.requests : 0;
    }
    for (auto& [name, row] : own) {
        row.billed_cost = cost_of(row.billed, session.profile);
        rows[name] += row;
    }
}

}  // namespace

EarlyOutput& EarlyOutput::operator+=(const EarlyOutput& more) noexcept {
    calls += more.calls;
    estimated_tokens = add_saturating(estimated_tokens, more.estimated_tokens);
    return *this;
}

BillSum& BillSum::operator+=(const BillSum& more) noexcept {
    sessions += more.sessions;
    calls += more.calls;
    billed_calls += more.billed_calls;
    repeated_calls += more.repeated_calls;
    billed += more.billed;
    billed_cost += more.billed_cost;
    dollars += more.dollars;
    priced_calls += more.priced_calls;
    early += more.early;
    return *this;
}

double BillSum::rank() const noexcept {
    constexpr double usual_price = 3e-6;  // dollars for a token of input
    return is_priced() ? dollars / usual_price : billed_cost;
}

BillSum sum_of(const SessionBill& session) {
    BillSums rows;
    add_calls(rows, session, [](const BilledCall&) { return std::string(); });
    BillSum sum = rows[""];
    sum.sessions = session.is_counted ? 1 : 0;
    for (const BilledCall& call : session.calls)
        sum.repeated_calls += call.is_copy && call.is_asked_for ? call.requests : 0;
    return sum;
}

BillTables tables_of(const Bills& bills) {
    BillTables tables;
    for (const SessionBill& session : bills.sessions()) {
        const BillSum sum = sum_of(session);
        tables.all += sum;
        tables.copied_sessions += session.is_copy ? 1 : 0;
        for (const BilledCall& call : session.calls)
            tables.calls_without_time += !call.is_copy && !call.is_asked_for && !call.time ? call.requests : 0;
        if (session.is_counted || sum.repeated_calls > 0) tables.agents[session.agent] += sum;
        if (!session.is_counted) continue;
        add_calls(tables.days, session,
                  [](const BilledCall& call) { return call.time ? local_day_of(*call.time) : std::string(); });
        add_calls(tables.models, session, [&](const BilledCall& call) { return bills.models()[call.model]; });
        tables.projects[session.project] += sum;
    }
    return tables;
}

}  // namespace whittle::cli
