#pragma once

#include "whittle/summary/detail/digest_calls.hpp"

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

/// The attempts of one digest: retries with the first model, then failover.
template <AgentMessage M>
class DigestAttempts {
public:
    /// All are borrowed. `state`: learns the limit of an overflow.
    DigestAttempts(DigestCalls<M>& calls, Model<M>& model, const DigestConfig& config,
                   const DigestCallbacks<M>& callbacks, const DigestEnvironment& environment, DigestState& state)
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
    DigestAttempt<M> ask(FoldPosition position, std::int64_t& limit) {
        position_ = position;
        DigestAttempt<M> last = ask_primary(limit);
        return last.is_final() ? last : ask_failover(std::move(last), limit);
    }

private:
    DigestAttempt<M> ask_primary(std::int64_t& limit) {
        const int retries = config_.retry ? config_.retry->max_retries : 0;
        for (int number = 1;; ++number) {
            DigestAttempt<M> outcome = attempt(model_, number, DigestPhase::primary, limit);
            outcome.number = number;
            if (!config_.retry || outcome.is_final() || !wants_retry(number, outcome)) return outcome;
            if (number > retries) return used_up(std::move(outcome), "retry", retries);
            pause(callbacks_.retry.backoff, number, DigestPhase::primary, outcome);
            if (outcome.is_final()) return outcome;
        }
    }

    /// What does not fit once does not fit the next time.
    bool wants_retry(int number, const DigestAttempt<M>& outcome) {
        if (outcome.error && outcome.error->failure == DigestFailure::does_not_fit) return false;
        if (!callbacks_.retry.should_retry) return outcome.error.has_value();
        return guarded("should_retry",
                       [&] { return callbacks_.retry.should_retry(view_of_attempt(number, {}, outcome)); });
    }

    DigestAttempt<M> ask_failover(DigestAttempt<M> last, std::int64_t first_limit) {
        if (!config_.failover || !wants_failover(last.number, DigestPhase::primary, last)) return last;
        for (int number = 1; number <= config_.failover->max_retries; ++number) {
            last = attempt_failover(number, std::move(last), first_limit);
            if (last.is_final() || !wants_failover(number, DigestPhase::failover, last)) return last;
            if (number == config_.failover->max_retries) break;
            pause(callbacks_.failover.backoff, number, DigestPhase::failover, last);
            if (last.is_final()) return last;
        }
        return used_up(std::move(last), "failover", config_.failover->max_retries);
    }

    bool wants_failover(int number, DigestPhase phase, const DigestAttempt<M>& outcome) {
        if (!callbacks_.failover.should_failover) return outcome.error.has_value();
        return guarded("should_failover",
                       [&] { return callbacks_.failover.should_failover(view_of_attempt(number, phase, outcome)); });
    }

    DigestAttempt<M> attempt_failover(int number, DigestAttempt<M> last, std::int64_t first_limit) {
        FailoverModel<M> other = failover_model(number, last);
        if (callbacks_.failover.get_failover_model && !other.model)
            throw CallbackThrew{"get_failover_model: it gave no model", {}};
        std::int64_t limit = other.max_input_tokens > 0 ? other.max_input_tokens : first_limit;
        Model<M>& model = other.model ? *other.model : model_;
        if (other.input.empty()) return attempt(model, number, DigestPhase::failover, limit);
        DigestAttempt<M> outcome = calls_.ask_whole(model, other.input, limit, false);
        notify(number, DigestPhase::failover, outcome);
        return outcome;
    }

    FailoverModel<M> failover_model(int number, const DigestAttempt<M>& last) {
        if (!callbacks_.failover.get_failover_model) return {};
        return guarded("get_failover_model", [&] {
            return callbacks_.failover.get_failover_model({context(), number, calls_.system(), calls_.instruction(),
                                                           calls_.originals(), last.reply ? &*last.reply : nullptr,
                                                           last.error ? &*last.error : nullptr});
        });
    }

    DigestAttempt<M> used_up(DigestAttempt<M> outcome, std::string_view what, int retries) {
        outcome.error = attempts_used_up(what, retries, outcome.error ? &*outcome.error : nullptr);
        return outcome;
    }

    [[nodiscard]] CallbackContext context() const noexcept {
        return {.conversation = environment_.conversation,
                .round = environment_.round,
                .tools = environment_.tools,
                .stop = environment_.stop};
    }

    [[nodiscard]] Attempt<M> view_of_attempt(int number, DigestPhase phase, const DigestAttempt<M>& outcome) const {
        return {context(), number, phase, outcome.reply ? &*outcome.reply : nullptr,
                outcome.error ? &*outcome.error : nullptr};
    }

    void notify(int number, DigestPhase phase, const DigestAttempt<M>& outcome) {
        if (!callbacks_.on_generate) return;
        try {
            callbacks_.on_generate(view_of_attempt(number, phase, outcome));
        } catch (...) {  // it only watches
        }
    }

    DigestAttempt<M> attempt(Model<M>& model, int number, DigestPhase phase, std::int64_t& limit) {
        while (true) {
            DigestAttempt<M> outcome = own_input_ ? calls_.ask_whole(model, *own_input_, limit, true)
                                                  : calls_.ask_chunk(model, position_, state_.summary_so_far, limit);
            notify(number, phase, outcome);
            if (!outcome.error || outcome.error->model_error != ModelErrorClass::overflow) return outcome;
            const std::int64_t learnt =
                limit_after_overflow(outcome.record.request_tokens, calls_.fixed_tokens(), outcome.error->overflow);
            if (phase == DigestPhase::primary) state_.learnt_input_limit = learnt;
            if (own_input_) return outcome;
            limit = learnt;
        }
    }

    /// Waits before the next attempt. If the hook's time would not last, `outcome` becomes final.
    void pause(const std::function<std::chrono::milliseconds(const Attempt<M>&)>& backoff, int number,
               DigestPhase phase, DigestAttempt<M>& outcome) {
        std::chrono::milliseconds wait =
            backoff ? guarded("backoff", [&] { return backoff(view_of_attempt(number, phase, outcome)); })
                    : default_backoff(number, *environment_.random);
        if (outcome.error && outcome.error->retry_after) wait = std::max(wait, *outcome.error->retry_after);
        wait = std::max(wait, std::chrono::milliseconds::zero());
        const HookBudget* budget = environment_.budget;
        if (budget != nullptr && add_saturating(environment_.clock->now(), wait.count()) >= budget->deadline) {
            const std::string last = outcome.error ? "; the last attempt: " + outcome.error->message : std::string();
            outcome.error =
                error_without_call(DigestFailure::budget, "wait for the next attempt: " + std::to_string(wait.count()) +
                                                              " ms are longer than the hook's time" + last);
            return;
        }
        if (!environment_.clock->sleep_for(wait, environment_.stop))
            throw ModelError(ModelErrorClass::cancelled, "wait for the next attempt: stopped");
    }

    DigestCalls<M>& calls_;
    Model<M>& model_;
    const DigestConfig& config_;
    const DigestCallbacks<M>& callbacks_;
    const DigestEnvironment& environment_;
    DigestState& state_;
    std::optional<std::vector<M>> own_input_{};
    FoldPosition position_{};
};

}  // namespace whittle::inline v0::detail
