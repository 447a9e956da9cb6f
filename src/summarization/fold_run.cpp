#include "whittle/summarization/fold_run.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace whittle::inline v0::detail {

namespace {

std::string_view what_stays(const FoldPlan& plan) {
    const bool has_head = std::ranges::count(plan.rules, std::string_view("loop_head")) > 0;
    return has_head
               ? "system, pinned, newest user message, open round, and the first step of its tool loop, which holds "
                 "the thinking that the provider wants in front"
               : "system, pinned, newest user message, open round";
}

}  // namespace

std::string describe_floor(const FoldSizes& sizes, const FoldPlan& plan, std::int64_t reserve) {
    if (sizes.trigger_tokens > 0 && sizes.floor_of(plan, reserve) > sizes.trigger_tokens) {
        return fmt::format(
            "no summary: what has to stay takes {} tokens, the trigger is {}: {} beside the messages (system text, "
            "tools), {} in {} messages ({}), {} reserved for the reply",
            sizes.floor_of(plan, reserve), sizes.trigger_tokens, sizes.beside_messages(),
            sizes.scale.to_request(plan.kept_tokens), plan.kept_messages, what_stays(plan), reserve);
    }
    return fmt::format("no summary: {} messages have to stay ({}), the trigger is {}", plan.kept_messages,
                       what_stays(plan), sizes.limit_messages);
}

std::string describe_rest(std::int64_t tokens, std::int64_t limit) {
    return fmt::format("after the summary the request still has {} tokens, the trigger is {}", tokens, limit);
}

HookBudget budget_of(const ChainConfig& chain) {
    return {chain.limits.model_calls, chain.limits.store_bytes > 0 ? chain.limits.store_bytes : INT64_MAX,
            add_saturating(chain.clock->now(), chain.limits.deadline.count())};
}

}  // namespace whittle::inline v0::detail
