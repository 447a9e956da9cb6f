#pragma once

#include "whittle/summary/detail/summary_generation_calls.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// The attempts at one summary: retries with the first model, then failover.
template <AgentMessage M>
class SummaryGenerationAttempts {
public:
    /// All are borrowed. `state`: learns the limit of an overflow.
    SummaryGenerationAttempts(SummaryGenerationCalls<M>& calls, Model<M>& model, const SummaryGenerationConfig& config,
                              const SummaryGenerationCallbacks<M>& callbacks,
                              const SummaryGenerationEnvironment& environment, SummaryGenerationState& state)
        : calls_(calls),
          model_(model),
          config_(config),
          callbacks_(callbacks),
          environment_(environment),
          state_(state) {
        if (callbacks_.gen_model_input) {
            own_input_ = guarded("gen_model_input", [&] {
                return callbacks_.gen_model_input(context(), calls_.system(), calls_.instruction(), calls_.originals());
            });
        }
    }

    /// At the next chunk from `position` on. Requests have at most `limit` tokens, or what an overflow has taught.
    SummaryGenerationAttempt<M> ask(FoldPosition position, std::int64_t& limit) {
        position_ = position;
        SummaryGenerationAttempt<M> last = call_primary(limit);
        return last.is_final() ? last : call_failover(std::move(last), limit);
    }

private:
    SummaryGenerationAttempt<M> call_primary(std::int64_t& limit) {
        const int retries = config_.retry ? config_.retry->max_retries : 0;
        for (int number = 1;; ++number) {
            SummaryGenerationAttempt<M> outcome = attempt(model_, number, SummaryPhase::primary, limit);
            outcome.number = number;
            if (!config_.retry || outcome.is_final() || !wants_retry(number, outcome)) return outcome;
            if (number > retries) return used_up(std::move(outcome), "retry", retries);
            pause(callbacks_.retry.backoff, number, SummaryPhase::primary, outcome);
            if (outcome.is_final()) return outcome;
        }
    }

    /// What does not fit once does not fit the next time.
    bool wants_retry(int number, const SummaryGenerationAttempt<M>& outcome) {
        if (outcome.error && outcome.error->failure == SummaryFailure::does_not_fit) return false;
        if (!callbacks_.retry.should_retry) return outcome.error.has_value();
        return guarded("should_retry",
                       [&] { return callbacks_.retry.should_retry(view_of_attempt(number, {}, outcome)); });
    }

    SummaryGenerationAttempt<M> call_failover(SummaryGenerationAttempt<M> last, std::int64_t first_limit) {
        if (!config_.failover || !wants_failover(last.number, SummaryPhase::primary, last)) return last;
        for (int number = 1; number <= config_.failover->max_retries; ++number) {
            last = attempt_failover(number, std::move(last), first_limit);
            if (last.is_final() || !wants_failover(number, SummaryPhase::failover, last)) return last;
            if (number == config_.failover->max_retries) break;
            pause(callbacks_.failover.backoff, number, SummaryPhase::failover, last);
            if (last.is_final()) return last;
        }
        return used_up(std::move(last), "failover", config_.failover->max_retries);
    }

    bool wants_failover(int number, SummaryPhase phase, const SummaryGenerationAttempt<M>& outcome) {
        if (!callbacks_.failover.should_failover) return outcome.error.has_value();
        return guarded("should_failover",
                       [&] { return callbacks_.failover.should_failover(view_of_attempt(number, phase, outcome)); });
    }

    SummaryGenerationAttempt<M> attempt_failover(int number, SummaryGenerationAttempt<M> last,
                                                 std::int64_t first_limit) {
        FailoverModel<M> other = failover_model(number, last);
        if (callbacks_.failover.get_failover_model && !other.model)
            throw CallbackThrew{"get_failover_model: it gave no model", {}};
        std::int64_t limit = other.max_input_tokens > 0 ? other.max_input_tokens : first_limit;
        Model<M>& model = other.model ? *other.model : model_;
        if (other.input.empty()) return attempt(model, number, SummaryPhase::failover, limit);
        SummaryGenerationAttempt<M> outcome = calls_.summarize_whole(model, other.input, limit, false);
        notify(number, SummaryPhase::failover, outcome);
        return outcome;
    }

    FailoverModel<M> failover_model(int number, const SummaryGenerationAttempt<M>& last) {
        if (!callbacks_.failover.get_failover_model) return {};
        return guarded("get_failover_model", [&] {
            return callbacks_.failover.get_failover_model({context(), number, calls_.system(), calls_.instruction(),
                                                           calls_.originals(), last.reply ? &*last.reply : nullptr,
                                                           last.error ? &*last.error : nullptr});
        });
    }

    SummaryGenerationAttempt<M> used_up(SummaryGenerationAttempt<M> outcome, std::string_view what, int retries) {
        outcome.error = attempts_used_up(what, retries, outcome.error ? &*outcome.error : nullptr);
        return outcome;
    }

    [[nodiscard]] CallbackContext context() const noexcept {
        return {.conversation_id = environment_.conversation_id,
                .round_serial = environment_.round_serial,
                .tools = environment_.tools,
                .stop = environment_.stop};
    }

    [[nodiscard]] Attempt<M> view_of_attempt(int number, SummaryPhase phase,
                                             const SummaryGenerationAttempt<M>& outcome) const {
        return {context(), number, phase, outcome.reply ? &*outcome.reply : nullptr,
                outcome.error ? &*outcome.error : nullptr};
    }

    void notify(int number, SummaryPhase phase, const SummaryGenerationAttempt<M>& outcome) {
        if (!callbacks_.on_generate) return;
        try {
            callbacks_.on_generate(view_of_attempt(number, phase, outcome));
        } catch (...) {  // it only watches
        }
    }

    SummaryGenerationAttempt<M> attempt(Model<M>& model, int number, SummaryPhase phase, std::int64_t& limit) {
        while (true) {
            SummaryGenerationAttempt<M> outcome =
                own_input_ ? calls_.summarize_whole(model, *own_input_, limit, true)
                           : calls_.summarize_chunk(model, position_, state_.summary_so_far, limit);
            notify(number, phase, outcome);
            if (!outcome.error || outcome.error->model_error != ModelErrorClass::overflow) return outcome;
            const std::int64_t learnt =
                limit_after_overflow(outcome.record.request_tokens, calls_.fixed_tokens(), outcome.error->overflow);
            if (phase == SummaryPhase::primary) state_.learnt_input_limit = learnt;
            if (own_input_) return outcome;
            limit = learnt;
        }
    }

    /// Waits before the next attempt. If the hook's time would not last, `outcome` becomes final.
    void pause(const std::function<std::chrono::milliseconds(const Attempt<M>&)>& backoff, int number,
               SummaryPhase phase, SummaryGenerationAttempt<M>& outcome) {
        std::chrono::milliseconds wait =
            backoff ? guarded("backoff", [&] { return backoff(view_of_attempt(number, phase, outcome)); })
                    : default_backoff(number, *environment_.random);
        if (outcome.error && outcome.error->retry_after) wait = (std::max)(wait, *outcome.error->retry_after);
        wait = (std::max)(wait, std::chrono::milliseconds::zero());
        const HookBudget* budget = environment_.budget;
        if (budget != nullptr && add_saturating(environment_.clock->now(), wait.count()) >= budget->deadline) {
            const std::string last = outcome.error ? "; the last attempt: " + outcome.error->message : std::string();
            outcome.error = error_without_call(SummaryFailure::budget,
                                               "wait for the next attempt: " + std::to_string(wait.count()) +
                                                   " ms are longer than the hook's time" + last);
            return;
        }
        if (!environment_.clock->sleep_for(wait, environment_.stop))
            throw ModelError(ModelErrorClass::cancelled, "wait for the next attempt: stopped");
    }

    SummaryGenerationCalls<M>& calls_;
    Model<M>& model_;
    const SummaryGenerationConfig& config_;
    const SummaryGenerationCallbacks<M>& callbacks_;
    const SummaryGenerationEnvironment& environment_;
    SummaryGenerationState& state_;
    std::optional<std::vector<M>> own_input_{};
    FoldPosition position_{};
};

}  // namespace whittle::inline v0::detail
