#include "traced_calls.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

/// Finds the call that another one was made in.
class OuterCalls {
public:
    explicit OuterCalls(std::vector<TracedCall>& calls) {
        for (TracedCall& call : calls) {
            if (!call.id.empty()) by_id_.emplace(call.id, &call);
        }
    }

    /// null: it was made in none, or in itself, as damaged logs may say.
    [[nodiscard]] TracedCall* outermost(const TracedCall& call) const {
        constexpr int deepest = 64;
        TracedCall* outer = outer_of(call);
        for (int depth = 0; depth < deepest && outer != nullptr; ++depth) {
            TracedCall* const next = outer_of(*outer);
            if (next == nullptr) return outer;
            outer = next;
        }
        return nullptr;
    }

private:
    [[nodiscard]] TracedCall* outer_of(const TracedCall& call) const {
        const auto outer = by_id_.find(call.parent);
        return outer == by_id_.end() ? nullptr : outer->second;
    }

    std::unordered_map<std::string_view, TracedCall*> by_id_{};
};

}  // namespace

std::int64_t TracedCalls::leave_out_inner() {
    const OuterCalls outer(calls_);
    std::vector<bool> is_inner;
    std::unordered_map<TracedCall*, Usage> billed_within;
    for (const TracedCall& call : calls_) {
        TracedCall* const outermost = outer.outermost(call);
        is_inner.push_back(outermost != nullptr);
        if (outermost != nullptr && call.usage) add_usage(billed_within[outermost], *call.usage);
    }
    for (const auto& [outermost, usage] : billed_within) {
        if (!outermost->usage) outermost->usage = usage;
    }
    std::vector<TracedCall> kept;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
        if (!is_inner[i]) kept.push_back(std::move(calls_[i]));
    }
    const auto left_out = static_cast<std::int64_t>(calls_.size() - kept.size());
    calls_ = std::move(kept);
    return left_out;
}

void TracedCalls::finish(ExchangeList&& list, FunctionRef<void(Session&&)> visit) {
    std::ranges::stable_sort(calls_, {}, &TracedCall::time);
    for (const TracedCall& call : calls_)
        list.add({.request = &call.request,
                  .response = call.response.is_object() ? &call.response : nullptr,
                  .time = call.time,
                  .line = call.line,
                  .usage = call.usage,
                  .has_failed = call.has_failed});
    list.finish(visit);
}

}  // namespace whittle::inline v0::logs
