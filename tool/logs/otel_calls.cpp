#include "otel_calls.hpp"

#include <utility>

namespace whittle::inline v0::logs {
namespace {

/// What a call tells, of 4 kinds: whether it has messages, and whether it has counts.
unsigned kinds_of(const TracedCall& call) {
    return (call.request.is_null() ? 0U : 1U) | (call.usage.has_value() ? 2U : 0U);
}

/// Whether a call of one of these kinds, a bit each, tells at least what one of `kind` does.
bool covers_kind(unsigned kinds, unsigned kind) {
    for (unsigned other = kind; other < 4; ++other) {
        if ((other & kind) == kind && (kinds >> other & 1U) != 0) return true;
    }
    return false;
}

/// Each call behind the one around it; without those that are within themselves over several others.
std::vector<std::size_t> outer_first(const std::vector<std::size_t>& around) {
    std::vector<std::vector<std::size_t>> within(around.size());
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < around.size(); ++i)
        (around[i] == around.size() ? order : within[around[i]]).push_back(i);
    for (std::size_t next = 0; next < order.size(); ++next) {
        const std::vector<std::size_t>& inner = within[order[next]];
        order.insert(order.end(), inner.begin(), inner.end());
    }
    return order;
}

}  // namespace

void OtelCalls::add(OtelCall call) {
    if (!call.span.empty()) {
        const auto [known, is_new] = call_of_span_.try_emplace(call.span, calls_.size());
        if (!is_new) return join(calls_[known->second], std::move(call));
    }
    calls_.push_back(std::move(call));
}

/// What was recorded of a call twice: its span tells when, either has the messages and the bill.
void OtelCalls::join(OtelCall& known, OtelCall more) {
    if (known.is_event == more.is_event) {
        ++notes_.left_out[known.is_event ? "repeated event" : "repeated span"];
        return;
    }
    ++notes_.left_out["event of a span that was read"];
    if (known.is_event) std::swap(known, more);
    if (known.call.request.is_null()) {
        known.call.request = std::move(more.call.request);
        known.call.response = std::move(more.call.response);
    }
    if (!known.call.usage) known.call.usage = more.call.usage;
}

/// The call whose span is directly around that of each one; `calls_.size()` where there is none.
std::vector<std::size_t> OtelCalls::calls_around() const {
    std::vector<std::size_t> around;
    for (const OtelCall& call : calls_) {
        const auto outer = call.parent.empty() ? call_of_span_.end() : call_of_span_.find(call.parent);
        const bool is_outer = outer != call_of_span_.end() && calls_[outer->second].parent != call.span;
        around.push_back(is_outer ? outer->second : calls_.size());  // a span within itself is in a damaged log
    }
    return around;
}

/// Of spans of model calls within each other the inner ones are the calls that were made, unless none of them tells
/// what the outer one does: then that one stays for all of them. Runs of LangSmith and Langfuse are read the other way
/// round (`TracedCalls::leave_out_inner`): there one of a model is one call by definition, and only outer ones have the
/// messages in the form in which the next one sends them, while a span may be around several calls.
void OtelCalls::leave_out_nested() {
    const std::size_t none = calls_.size();
    const std::vector<std::size_t> around = calls_around();
    const std::vector<std::size_t> order = outer_first(around);
    std::vector<unsigned> kinds_within(calls_.size(), 0);
    for (std::size_t at = order.size(); at-- > 0;) {
        const std::size_t i = order[at];
        if (around[i] != none) kinds_within[around[i]] |= kinds_within[i] | 1U << kinds_of(calls_[i].call);
    }
    std::vector<bool> stands_for_inner(calls_.size(), false);
    is_left_out_.assign(calls_.size(), false);
    for (const std::size_t i : order) {
        const bool is_covered = around[i] != none && stands_for_inner[around[i]];
        is_left_out_[i] = is_covered || covers_kind(kinds_within[i], kinds_of(calls_[i].call));
        stands_for_inner[i] = is_covered || !is_left_out_[i];
    }
}

void OtelCalls::finish(ExchangeList&& list, FunctionRef<void(Session&&)> visit) {
    leave_out_nested();
    TracedCalls calls;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
        if (is_left_out_[i]) {
            ++notes_.left_out["span of a model call that another span tells too"];
        } else {
            calls.add(std::move(calls_[i].call));
        }
    }
    calls.finish(std::move(list), "span of a model call without messages", notes_, visit);
}

}  // namespace whittle::inline v0::logs
