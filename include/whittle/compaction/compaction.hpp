#pragma once

#include "whittle/chain/chain.hpp"
#include "whittle/compaction/config.hpp"
#include "whittle/compaction/detail/compact.hpp"
#include "whittle/message/chat_message.hpp"
#include "whittle/model/detail/model_message.hpp"
#include "whittle/pruning/detail/limits_stage.hpp"
#include "whittle/pruning/fetch_media.hpp"
#include "whittle/summary/detail/attempt.hpp"
#include "whittle/summary/detail/summary_functions.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0 {

/// What takes a message type. Each replaces the built-in answer.
template <AgentMessage M = ChatMessage>
struct CompactionCallbacks {
    RetryCallbacks<M> retry{};        ///< default: `is_retryable`, half a second apart
    FailoverCallbacks<M> failover{};  ///< used if `failover` is configured
    /// For a summary that is prepared (`prepare_at_trigger_fraction`). The library starts no thread. Summarizer,
    /// `retry` and `failover` are called on that thread then, beside the agent's own calls.
    SummaryExecutor prepare_executor{};
};

/// Whether another attempt with the same model can help: not after a refused key, a bad request or a model's refusal.
[[nodiscard]] bool is_retryable(const SummaryError& error) noexcept;

/// Keeps every request below a threshold, from cheap to dear: prunes old tool results, takes media out of old messages,
/// folds the oldest turns into one summary, which a model writes, or `rule_based_summary` by rule. The current turn,
/// leading system texts and pins stay as they are, but for media over the limits of the provider
/// (`PruningConfig::fit_image_and_byte_limits`). One run is one commit; the originals stay in the store and in the
/// journal.
template <AgentMessage M = ChatMessage>
class Compaction final : public Middleware<M> {
public:
    /// `summarizer` null: the agent's own model. Without one either, a summary is written by rule if
    /// `rule_based_summary_tokens` is set; else only the cheap stages run, which is reported once.
    explicit Compaction(std::shared_ptr<Model<M>> summarizer = nullptr, CompactionConfig config = {},
                        CompactionCallbacks<M> callbacks = {}, std::string name = "compaction")
        : summarizer_(std::move(summarizer)),
          config_(std::move(config)),
          callbacks_(std::move(callbacks)),
          name_(std::move(name)) {}

    [[nodiscard]] std::string_view name() const noexcept override { return name_; }
    /// The settings that it was made with.
    [[nodiscard]] const CompactionConfig& config() const noexcept { return config_; }

    void check(const ChainInfo& chain, Problems& problems) const override;
    [[nodiscard]] std::string_view exclusive_task() const noexcept override { return fold_history_task; }
    [[nodiscard]] std::vector<Tool> tools(const ChainConfig& chain) const override {
        const bool stores_media =
            config_.pruning || config_.media == MediaMode::reference || config_.media == MediaMode::automatic;
        return stores_media ? detail::media_tools(chain) : std::vector<Tool>{};
    }
    void before_model(Turn<M>& turn) override;
    bool on_overflow(Turn<M>& turn, const Overflow& overflow) override;
    void compact_now(Turn<M>& turn) override;
    [[nodiscard]] std::size_t expected_stable_prefix(const Conversation<M>& conversation) const override {
        return detail::untouched_by_compaction(conversation.outline(), name_);
    }

private:
    [[nodiscard]] const std::shared_ptr<const TokenCounter>& counter(const Turn<M>& turn) const noexcept {
        return config_.token_counter ? config_.token_counter : turn.config.token_counter;
    }
    [[nodiscard]] ContextCount counted(Turn<M>& turn) const {
        return turn.conversation.context(counter(turn), turn.request.system, turn.request.tools);
    }
    [[nodiscard]] std::int64_t count(Turn<M>& turn) const {
        return config_.token_counter ? counted(turn).total : turn.context_tokens();
    }
    using Compact = bool (*)(const detail::CompactionWork&);

    bool run(Turn<M>& turn, const CompactionLimits& limits, std::int64_t tokens, Compact compact) const;
    [[nodiscard]] SummaryGenerationCallbacks<M> summary_generation_callbacks() const;

    std::shared_ptr<Model<M>> summarizer_;
    CompactionConfig config_;
    CompactionCallbacks<M> callbacks_;
    std::string name_;
};

/// From a pointer to a class of one's own that is a model, too.
template <typename T>
Compaction(std::shared_ptr<T>, CompactionConfig = {}, CompactionCallbacks<detail::ModelMessage<T>> = {},
           std::string = {}) -> Compaction<detail::ModelMessage<T>>;

template <AgentMessage M>
void Compaction<M>::check(const ChainInfo& chain, Problems& problems) const {
    const CompactionSetup setup{.has_summarizer = summarizer_ != nullptr,
                                .has_executor = static_cast<bool>(callbacks_.prepare_executor),
                                .summarizers_before = chain.count_same_task_before(name_)};
    check_compaction(config_, chain.config, setup, name_, problems);
}

template <AgentMessage M>
void Compaction<M>::before_model(Turn<M>& turn) {
    const std::int64_t tokens = count(turn);
    if (const auto limits = detail::due_limits(turn, config_, tokens)) {
        run(turn, *limits, tokens, &detail::compact_when_due);
    } else if (tokens <= turn.report.threshold &&
               detail::is_near_trigger(tokens, turn.report.threshold, config_.prepare_at_trigger_fraction)) {
        run(turn, detail::limits_now(turn, config_), tokens, &detail::prepare_compaction);
    }
    if (config_.pruning && config_.pruning->fit_image_and_byte_limits)
        detail::fit_image_and_byte_limits(turn, counter(turn), *config_.pruning);
}

template <AgentMessage M>
bool Compaction<M>::on_overflow(Turn<M>& turn, const Overflow&) {
    const std::int64_t tokens = std::max<std::int64_t>(1, count(turn));
    return run(turn, detail::limits_after_overflow(turn, config_, tokens), tokens, &detail::compact_anyway);
}

/// Down to what the host wants, not to `target_tokens`.
template <AgentMessage M>
void Compaction<M>::compact_now(Turn<M>& turn) {
    const std::int64_t tokens = std::max<std::int64_t>(1, count(turn));
    run(turn, detail::limits_on_demand(turn, config_, tokens), tokens, &detail::compact_anyway);
}

template <AgentMessage M>
bool Compaction<M>::run(Turn<M>& turn, const CompactionLimits& limits, std::int64_t tokens, Compact compact) const {
    EditEnvironment environment = turn.environment();
    environment.counter = counter(turn);
    Transaction<M> edit = turn.conversation.edit(name_, std::move(environment));
    Model<M>* const model = summarizer_ ? summarizer_.get() : turn.request.model;
    detail::SummaryFunctions functions;
    if (model != nullptr)
        functions.generate = [&](const detail::SummaryOrder& order,
                                 SummaryGenerationState& state) -> SummaryGenerationOutcome {
            SummaryGenerationEnvironment with = summary_generation_environment(turn);
            with.counter = counter(turn);
            return generate_summary(detail::task_of(order, *model, edit), order.config, summary_generation_callbacks(),
                                    with, state);
        };
    functions.prepare = detail::preparing(turn, edit, summarizer_, summary_generation_callbacks(),
                                          callbacks_.prepare_executor, counter(turn));
    FoldSizes sizes{.context_tokens = tokens, .trigger_tokens = limits.threshold};
    sizes.count(counted(turn));
    return compact({turn, edit, functions, config_, limits, sizes});
}

template <AgentMessage M>
SummaryGenerationCallbacks<M> Compaction<M>::summary_generation_callbacks() const {
    SummaryGenerationCallbacks<M> callbacks{callbacks_.retry, callbacks_.failover, {}, {}};
    if (!callbacks.retry.should_retry) {
        callbacks.retry.should_retry = [](const Attempt<M>& attempt) {
            return attempt.error != nullptr && is_retryable(*attempt.error);
        };
    }
    if (!callbacks.retry.backoff)
        callbacks.retry.backoff = [](const Attempt<M>&) { return std::chrono::milliseconds(500); };
    return callbacks;
}

/// The maker of `compaction_type`.
inline constexpr auto make_compaction =
    []<AgentMessage M>(const CompactionConfig& config,
                       const MiddlewareBuildContext<M>& context) -> std::shared_ptr<Middleware<M>> {
    return std::make_shared<Compaction<M>>(
        context.model(), config, CompactionCallbacks<M>{{}, detail::failover_to<M>(context.model("failover.model"))},
        context.name_in_config);
};

}  // namespace whittle::inline v0

#define WHITTLE_DEFINES_COMPACTION
#include "whittle/base/detail/compiled_types.hpp"
