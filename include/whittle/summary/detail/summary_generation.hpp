#pragma once

// Definition of generate_summary(); included by summary.hpp.

#include "whittle/summary/detail/fold.hpp"
#include "whittle/summary/detail/summary_generation_attempts.hpp"
#include "whittle/summary/task.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace whittle::inline v0 {

namespace detail {

/// One call of `generate_summary`: chunk by chunk to the end of the fold.
template <AgentMessage M>
class SummaryGeneration {
public:
    SummaryGeneration(const SummaryGenerationTask<M>& task, const SummaryGenerationConfig& config,
                      const SummaryGenerationCallbacks<M>& callbacks, const SummaryGenerationEnvironment& environment,
                      SummaryGenerationState& state)
        : task_(task),
          config_(config),
          callbacks_(callbacks),
          environment_(environment),
          state_(state),
          calls_(task, config, environment) {}

    SummaryGenerationResult<M> run() {
        try {
            resume();
            SummaryGenerationAttempts<M> attempts(calls_, task_.model, config_, callbacks_, environment_, state_);
            while (!is_done_ && !result_.failure) step(attempts);
        } catch (CallbackThrew& threw) {
            result_.failure = error_without_call(SummaryFailure::callback, std::move(threw.message));
            result_.failure->thrown = std::move(threw.thrown);
        }
        result_.model_calls = calls_.count_of_calls();
        result_.usage = calls_.usage();
        return std::move(result_);
    }

private:
    /// Of the messages in front of `position`, the one that it is in included, and of how they are rendered.
    [[nodiscard]] Hash128 fingerprint_up_to(const FoldPosition& position) const {
        const std::size_t end = position.message + (position.entry > 0 || position.byte > 0 ? 1 : 0);
        return fingerprint_of_range(task_.outline, task_.fold.first((std::min)(end, task_.fold.size())),
                                    {static_cast<std::uint64_t>(config_.max_tool_result_bytes),
                                     static_cast<std::uint64_t>(environment_.language)});
    }

    void resume() {
        const FoldPosition at{state_.next_message, state_.next_entry,
                              static_cast<std::size_t>(std::max<std::int64_t>(0, state_.next_byte))};
        result_.resumed = !callbacks_.gen_model_input && !state_.empty() && at.message < task_.fold.size() &&
                          !state_.summary_so_far.empty() && fingerprint_up_to(at) == state_.done;
        if (result_.resumed)
            position_ = at;
        else
            state_ = {.learnt_input_limit = state_.learnt_input_limit};
        limit_ = config_.max_input_tokens > 0 ? config_.max_input_tokens : default_summary_input_tokens;
        // An input that the caller makes is judged by its own bound: the next one may be another.
        if (state_.learnt_input_limit > 0 && !callbacks_.gen_model_input)
            limit_ = (std::min)(limit_, state_.learnt_input_limit);
    }

    void step(SummaryGenerationAttempts<M>& attempts) {
        SummaryGenerationAttempt<M> outcome = attempts.ask(position_, limit_);
        result_.last_response = std::move(outcome.reply);
        if (outcome.error)
            result_.failure = std::move(outcome.error);
        else
            keep(std::move(outcome));
    }

    void keep(SummaryGenerationAttempt<M> outcome) {
        is_done_ = outcome.record.is_whole_fold || outcome.next.message >= task_.fold.size();
        result_.chunks.push_back(std::move(outcome.record));
        if (is_done_) {
            result_.summary = std::move(outcome.summary);
            result_.missing_sections = std::move(outcome.missing);
            state_ = {.learnt_input_limit = state_.learnt_input_limit};
            return;
        }
        position_ = outcome.next;
        state_ = {std::move(outcome.summary),
                  position_.message,
                  position_.entry,
                  static_cast<std::int64_t>(position_.byte),
                  fingerprint_up_to(position_),
                  state_.learnt_input_limit};
    }

    const SummaryGenerationTask<M>& task_;
    const SummaryGenerationConfig& config_;
    const SummaryGenerationCallbacks<M>& callbacks_;
    const SummaryGenerationEnvironment& environment_;
    SummaryGenerationState& state_;
    SummaryGenerationCalls<M> calls_;
    FoldPosition position_{};
    std::int64_t limit_ = 0;
    bool is_done_ = false;
    SummaryGenerationResult<M> result_{};
};

}  // namespace detail

template <AgentMessage M>
SummaryGenerationResult<M> generate_summary(const SummaryGenerationTask<M>& task, const SummaryGenerationConfig& config,
                                            const SummaryGenerationCallbacks<M>& callbacks,
                                            const SummaryGenerationEnvironment& environment,
                                            SummaryGenerationState& state) {
    return detail::SummaryGeneration<M>(task, config, callbacks, environment, state).run();
}

}  // namespace whittle::inline v0
