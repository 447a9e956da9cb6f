#pragma once

#include "whittle/base/error.hpp"
#include "whittle/base/event.hpp"
#include "whittle/base/hash.hpp"
#include "whittle/base/platform.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/summary/summary.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// A summary that is being made ahead of need, and what it stands for. Thread-safe.
class PreparedSummary {
public:
    /// `ordered_at`: tokens of the request then.
    PreparedSummary(std::vector<Serial> covers, Hash128 print, std::int64_t ordered_at)
        : covers_(std::move(covers)), print_(print), ordered_at_(ordered_at) {}

    [[nodiscard]] const std::vector<Serial>& covers() const noexcept { return covers_; }
    [[nodiscard]] Hash128 fingerprint() const noexcept { return print_; }
    [[nodiscard]] std::int64_t ordered_at() const noexcept { return ordered_at_; }
    [[nodiscard]] StopToken stop_token() const noexcept { return stop_.get_token(); }
    /// Nobody wants it any more.
    void give_up() noexcept { stop_.request_stop(); }

    void finish(SummaryGenerationOutcome outcome) {
        const std::lock_guard lock(mutex_);
        outcome_ = std::move(outcome);
    }
    /// What came of it; nullopt while it is being made.
    [[nodiscard]] std::optional<SummaryGenerationOutcome> outcome() const {
        const std::lock_guard lock(mutex_);
        return outcome_;
    }

private:
    std::vector<Serial> covers_;
    Hash128 print_;
    std::int64_t ordered_at_;
    StopSource stop_{};
    mutable std::mutex mutex_{};
    std::optional<SummaryGenerationOutcome> outcome_{};
};

/// Nobody wants the summary that a middleware has ordered for this conversation.
void forget_prepared(HookTurn& turn);

/// What runs on the host's executor: a summary of copies of the messages, which nothing else refers to.
template <AgentMessage M>
class PreparingJob {
public:
    /// `task`: the messages are copied. `environment`: that of the hook; `budget`: calls and time of its own.
    PreparingJob(std::shared_ptr<PreparedSummary> result, std::shared_ptr<Model<M>> model,
                 const SummaryGenerationTask<M>& task, SummaryGenerationConfig config,
                 SummaryGenerationCallbacks<M> callbacks, SummaryGenerationEnvironment environment, HookBudget budget)
        : result_(std::move(result)),
          model_(std::move(model)),
          replaced_tokens_(task.replaced_tokens),
          config_(std::move(config)),
          callbacks_(std::move(callbacks)),
          budget_(budget),
          environment_(std::move(environment)) {
        for (const std::size_t i : task.fold) {
            messages_.push_back(task.all_messages[i]);
            infos_.push_back(task.outline[i]);
        }
        environment_.stop = result_->stop_token();
        environment_.budget = &budget_;
        environment_.report = nullptr;
        environment_.tools = {};  // they are the hook's
    }
    PreparingJob(const PreparingJob&) = delete;
    PreparingJob& operator=(const PreparingJob&) = delete;
    ~PreparingJob() = default;

    void run() noexcept {
        SummaryGenerationOutcome outcome;
        try {
            std::vector<std::size_t> all(messages_.size());
            std::iota(all.begin(), all.end(), std::size_t{0});
            const SummaryGenerationTask<M> task{.model = *model_,
                                                .all_messages = std::span<const M>(messages_),
                                                .outline = Outline(std::span<const MessageInfo>(infos_)),
                                                .fold = all,
                                                .replaced_tokens = replaced_tokens_};
            SummaryGenerationState state;
            outcome = generate_summary(task, config_, callbacks_, environment_, state);
        } catch (...) {
            outcome.failure = SummaryError{.message = current_error_text()};
        }
        try {
            result_->finish(std::move(outcome));
        } catch (...) {  // a lock that fails: it stays unfinished, and is made again when it is due
        }
    }

private:
    std::shared_ptr<PreparedSummary> result_;
    std::shared_ptr<Model<M>> model_;
    std::vector<M> messages_{};
    std::vector<MessageInfo> infos_{};
    std::int64_t replaced_tokens_;
    SummaryGenerationConfig config_;
    SummaryGenerationCallbacks<M> callbacks_;
    HookBudget budget_;
    SummaryGenerationEnvironment environment_;
};

}  // namespace whittle::inline v0::detail
