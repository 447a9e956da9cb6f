#include "otel_calls.hpp"

#include <utility>

namespace whittle::inline v0::logs {

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

/// Of two spans of model calls, one within the other, the inner one is the call that was made, unless less is known of
/// it.
void OtelCalls::leave_out_nested() {
    is_left_out_.assign(calls_.size(), false);
    for (std::size_t i = 0; i < calls_.size(); ++i) {
        const auto around = calls_[i].parent.empty() ? call_of_span_.end() : call_of_span_.find(calls_[i].parent);
        if (around == call_of_span_.end() || around->second == i) continue;
        const TracedCall& inner = calls_[i].call;
        const TracedCall& outer = calls_[around->second].call;
        const bool tells_less =
            (inner.request.is_null() && !outer.request.is_null()) || (!inner.usage && outer.usage.has_value());
        is_left_out_[tells_less ? i : around->second] = true;
    }
}

void OtelCalls::finish(ExchangeList&& list, FunctionRef<void(Session&&)> visit) {
    leave_out_nested();
    TracedCalls calls;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
        if (is_left_out_[i]) {
            ++notes_.left_out["span of a model call that another span tells too"];
        } else if (calls_[i].call.request.is_null()) {
            ++notes_.unknown["span of a model call without messages"];
        } else {
            calls.add(std::move(calls_[i].call));
        }
    }
    calls.finish(std::move(list), visit);
}

}  // namespace whittle::inline v0::logs
