#pragma once

#include "whittle/chain/detail/hook_run.hpp"
#include "whittle/conversation/transaction.hpp"
#include "whittle/summary/detail/prepared.hpp"
#include "whittle/summary/detail/summary_work.hpp"
#include "whittle/summary/summary.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace whittle::inline v0 {

/// Runs what it gets on a thread of the host's, once and soon, or throws.
using SummaryExecutor = std::function<void(std::function<void()>)>;

namespace detail {

/// The task of an order. Borrows both.
template <AgentMessage M>
[[nodiscard]] SummaryGenerationTask<M> task_of(const SummaryOrder& order, Model<M>& model, const Transaction<M>& edit) {
    return {.model = model,
            .all_messages = edit.messages(),
            .outline = edit.outline(),
            .fold = order.fold,
            .replaced_tokens = order.replaced_tokens,
            .rejection_reason = order.accept};
}

/// `SummaryFunctions::prepare`. Borrows all but the callbacks; empty without a model or an executor.
template <AgentMessage M>
[[nodiscard]] auto preparing(Turn<M>& turn, const Transaction<M>& edit, const std::shared_ptr<Model<M>>& model,
                             SummaryGenerationCallbacks<M> callbacks, const SummaryExecutor& executor,
                             const std::shared_ptr<const TokenCounter>& counter)
    -> decltype(SummaryFunctions::prepare) {
    if (!executor || !model) return {};
    return [&, callbacks = std::move(callbacks)](const SummaryOrder& order, std::shared_ptr<PreparedSummary> summary) {
        SummaryGenerationEnvironment environment = summary_generation_environment(turn, "prepared summary");
        environment.counter = counter;
        const HookBudget budget = budget_of(turn.config, turn.config.clock->now());
        const auto job = std::make_shared<PreparingJob<M>>(std::move(summary), model, task_of(order, *model, edit),
                                                           order.config, callbacks, std::move(environment), budget);
        executor([job] { job->run(); });
    };
}

}  // namespace detail

}  // namespace whittle::inline v0
