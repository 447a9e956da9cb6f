#include "traced_calls.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

/// What was billed, as the trace or the response tells: neither does by nothing but zeros.
std::optional<Usage> bill_of(const TracedCall& call) {
    if (is_bill(call.usage)) return call.usage;
    const ordered_json* usage = tree_at(call.response, "usage");
    std::optional<Usage> bill;
    if (usage != nullptr) bill = provider_usage(*usage);
    return is_bill(bill) ? bill : std::nullopt;
}

Call call_alone(const TracedCall& call, const Usage& usage) {
    return {.id = std::string(text_at(call.response, "id")),
            .model = std::string(text_at(call.response, "model")),
            .time = call.time,
            .usage = usage};
}

/// What a call was made in.
struct AroundCall {
    TracedCall* outermost = nullptr;  ///< null: in none, or in itself, as damaged logs may say
    bool is_billed_between = false;   ///< by one within the outermost: its bill holds this one's
};

/// Finds the call that another one was made in.
class OuterCalls {
public:
    explicit OuterCalls(std::vector<TracedCall>& calls) {
        for (TracedCall& call : calls) {
            if (!call.id.empty()) by_id_.emplace(call.id, &call);
        }
    }

    [[nodiscard]] AroundCall around(const TracedCall& call) const {
        bool is_billed_between = false;
        TracedCall* outer = outer_with_messages(call);
        for (int depth = 0; depth < deepest && outer != nullptr; ++depth) {
            TracedCall* const next = outer_with_messages(*outer);
            if (next == nullptr) return {.outermost = outer, .is_billed_between = is_billed_between};
            is_billed_between = is_billed_between || bill_of(*outer);
            outer = next;
        }
        return {};
    }

    /// Calls `visit` with each call without messages that a call is within.
    template <typename Visit>
    void each_without_messages(const TracedCall& call, const Visit& visit) const {
        std::vector<const TracedCall*> found;
        const TracedCall* outer = outer_of(call);
        for (int depth = 0; depth < deepest && outer != nullptr; ++depth, outer = outer_of(*outer)) {
            if (outer == &call) return;  // in itself
            if (outer->request.is_null()) found.push_back(outer);
        }
        for (const TracedCall* one : found) visit(one);
    }

private:
    static constexpr int deepest = 64;

    [[nodiscard]] TracedCall* outer_with_messages(const TracedCall& call) const {
        TracedCall* outer = outer_of(call);
        for (int depth = 0; depth < deepest && outer != nullptr && outer->request.is_null(); ++depth)
            outer = outer_of(*outer);
        return outer != nullptr && outer->request.is_null() ? nullptr : outer;
    }

    [[nodiscard]] TracedCall* outer_of(const TracedCall& call) const {
        const auto outer = by_id_.find(call.parent);
        return outer == by_id_.end() ? nullptr : outer->second;
    }

    std::unordered_map<std::string_view, TracedCall*> by_id_{};
};

/// What the calls within one tell that it does not tell itself.
class InnerUsage {
public:
    explicit InnerUsage(const TracedCall& outermost)
        : own_bill_(bill_of(outermost)), has_reply_(holds_reply(outermost.response)) {}

    void take(const TracedCall& inner, bool is_billed_between) {
        const std::optional<Usage> bill = is_billed_between ? std::nullopt : bill_of(inner);
        if (bill && !bill_within_) bill_within_.emplace();
        if (bill) *bill_within_ += *bill;
        const bool is_later = replied_ == nullptr || inner.time >= replied_->time;  // the last of several attempts
        if (!has_reply_ && is_later && holds_reply(inner.response)) replied_ = &inner;
    }

    void give(TracedCall& outermost) const {
        outermost.usage = own_bill_ ? own_bill_ : bill_within_;
        if (replied_ != nullptr) outermost.response = replied_->response;
    }

private:
    std::optional<Usage> own_bill_;
    bool has_reply_;
    std::optional<Usage> bill_within_{};
    const TracedCall* replied_ = nullptr;
};

}  // namespace

std::int64_t TracedCalls::leave_out_inner() {
    const OuterCalls outer(calls_);
    std::vector<bool> is_inner;
    std::unordered_map<TracedCall*, InnerUsage> inner_usage;
    std::unordered_set<const TracedCall*> with_inner_usage;  // of those without messages
    for (const TracedCall& call : calls_) {
        if (bill_of(call)) outer.each_without_messages(call, [&](const auto* one) { with_inner_usage.insert(one); });
        const auto [outermost, is_billed_between] = outer.around(call);
        is_inner.push_back(outermost != nullptr);
        if (outermost != nullptr)
            inner_usage.try_emplace(outermost, *outermost).first->second.take(call, is_billed_between);
    }
    for (const auto& [outermost, within] : inner_usage) within.give(*outermost);
    std::vector<TracedCall> kept;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
        if (!is_inner[i] && !with_inner_usage.contains(&calls_[i])) kept.push_back(std::move(calls_[i]));
    }
    const auto left_out = static_cast<std::int64_t>(calls_.size() - kept.size());
    calls_ = std::move(kept);
    return left_out;
}

void TracedCalls::finish(ExchangeList&& list, std::string_view kind_without_usage, LogNotes& notes,
                         FunctionRef<void(Session&&)> visit) {
    std::ranges::stable_sort(calls_, {}, &TracedCall::time);
    for (const TracedCall& call : calls_) {
        if (call.request.is_null()) {
            const auto usage = bill_of(call);
            if (!usage) ++notes.unknown[std::string(kind_without_usage)];
            if (usage) list.bill_alone(call_alone(call, *usage), call.group);
            continue;
        }
        list.add({.request = &call.request,
                  .response = call.response.is_object() ? &call.response : nullptr,
                  .time = call.time,
                  .line = call.line,
                  .usage = call.usage,
                  .has_failed = call.has_failed,
                  .group = call.group});
    }
    list.finish(visit);
}

}  // namespace whittle::inline v0::logs
