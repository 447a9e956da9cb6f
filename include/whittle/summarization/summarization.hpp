#pragma once

#include "whittle/chain/chain.hpp"
#include "whittle/model/detail/model_message.hpp"
#include "whittle/pruning/detail/limits_stage.hpp"
#include "whittle/pruning/fetch_media.hpp"
#include "whittle/summarization/callbacks.hpp"
#include "whittle/summarization/config.hpp"
#include "whittle/summarization/detail/preserved.hpp"
#include "whittle/summarization/detail/summarization_functions.hpp"
#include "whittle/summarization/detail/summarize.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// Folds the older part of a conversation into a summary that a model writes, once the conversation passes a trigger;
/// with `rule_based_summary_tokens` also without a model (null), or where it failed.
/// System texts, pins, the newest user message, the open round and the recent tail stay as they are; the user's
/// messages, skills and facts that the summary lacks come along. The originals stay in the journal. Whatever fails, the
/// conversation is untouched.
template <AgentMessage M = ChatMessage>
class Summarization final : public Middleware<M> {
public:
    /// The chain checks the configuration. `model` may be null where the configuration needs none.
    explicit Summarization(std::shared_ptr<Model<M>> model, SummarizationConfig config = {},
                           SummarizationCallbacks<M> callbacks = {}, std::string name = "summarization")
        : model_(std::move(model)),
          config_(std::move(config)),
          callbacks_(std::move(callbacks)),
          name_(std::move(name)) {}

    [[nodiscard]] std::string_view name() const noexcept override { return name_; }
    /// The settings that it was made with.
    [[nodiscard]] const SummarizationConfig& config() const noexcept { return config_; }

    void check(const ChainInfo& chain, Problems& problems) const override;
    [[nodiscard]] std::string_view exclusive_task() const noexcept override { return fold_history_task; }
    [[nodiscard]] std::vector<Tool> tools(const ChainConfig& chain) const override {
        return config_.fit_image_and_byte_limits ? detail::media_tools(chain) : std::vector<Tool>{};
    }
    void before_model(Turn<M>& turn) override;
    bool on_overflow(Turn<M>& turn, const Overflow& overflow) override;
    void compact_now(Turn<M>& turn) override;
    /// The next summary starts at the first message that nothing keeps: what stands before it stays.
    [[nodiscard]] std::size_t expected_stable_prefix(const Conversation<M>& conversation) const override {
        return callbacks_.finalize ? 0 : detail::untouched_by_summarization(conversation.outline(), name_);
    }

    /// What the messages would be after a summary now, whatever the trigger says. Edits nothing; callbacks and internal
    /// events run as in a hook. The messages as they are if there is nothing to fold. Throws Error(invalid_config),
    /// Error(model_failed) and Error(cancelled).
    [[nodiscard]] std::vector<M> summarize(Conversation<M>& conversation, const ChainConfig& chain = {},
                                           const HookRequest<M>& request = {},
                                           const ChainCallbacks<M>& callbacks = {}) const;

private:
    using Summarize = bool (*)(const detail::SummarizationWork&);

    [[nodiscard]] std::int64_t count(Turn<M>& turn) const;
    bool run(Turn<M>& turn, const FoldSizes& sizes, Summarize fold) const;

    std::shared_ptr<Model<M>> model_;
    SummarizationConfig config_;
    SummarizationCallbacks<M> callbacks_;
    std::string name_;
};

/// From a pointer to a class of one's own that is a model, too.
template <typename T>
Summarization(std::shared_ptr<T>, SummarizationConfig = {}, SummarizationCallbacks<detail::ModelMessage<T>> = {},
              std::string = {}) -> Summarization<detail::ModelMessage<T>>;

template <AgentMessage M>
void Summarization<M>::check(const ChainInfo& chain, Problems& problems) const {
    const SummarizationSetup setup{.has_model = model_ != nullptr,
                                   .has_finalize = static_cast<bool>(callbacks_.finalize),
                                   .has_gen_model_input = static_cast<bool>(callbacks_.gen_model_input),
                                   .has_executor = static_cast<bool>(callbacks_.prepare_executor),
                                   .has_user_message_filter = static_cast<bool>(callbacks_.user_message_filter),
                                   .summarizers_before = chain.count_same_task_before(name_)};
    check_summarization(config_, chain.config, setup, name_, problems);
}

template <AgentMessage M>
std::int64_t Summarization<M>::count(Turn<M>& turn) const {
    if (!callbacks_.token_counter) return turn.context_tokens();
    return std::max<std::int64_t>(0, callbacks_.token_counter(turn.callback_context(), turn.conversation));
}

template <AgentMessage M>
bool Summarization<M>::run(Turn<M>& turn, const FoldSizes& sizes, Summarize fold) const {
    Transaction<M> edit = turn.edit();
    detail::SummarizationHost<M> host(turn, edit, config_, callbacks_, model_);
    const detail::SummarizationFunctions functions = host.functions();
    return fold({turn, edit, functions, config_, sizes});
}

template <AgentMessage M>
void Summarization<M>::before_model(Turn<M>& turn) {
    const std::int64_t tokens = count(turn);
    if (const auto sizes = detail::due_sizes(turn, config_, tokens)) {
        run(turn, *sizes, &detail::summarize_when_due);
    } else if (turn.report.outcome == Outcome::not_due && config_.prepare_at_trigger_fraction > 0.0) {
        const FoldSizes now = detail::sizes_of(turn, config_, tokens);
        if (detail::is_near_trigger(tokens, now.trigger_tokens, config_.prepare_at_trigger_fraction))
            run(turn, now, &detail::prepare_summarization);
    }
    if (config_.fit_image_and_byte_limits) detail::fit_image_and_byte_limits(turn, turn.config.token_counter);
}

template <AgentMessage M>
bool Summarization<M>::on_overflow(Turn<M>& turn, const Overflow&) {
    const std::int64_t tokens = std::max<std::int64_t>(1, count(turn));
    return run(turn, detail::sizes_after_overflow(turn, config_, tokens), &detail::summarize_after_overflow);
}

template <AgentMessage M>
void Summarization<M>::compact_now(Turn<M>& turn) {
    const std::int64_t tokens = std::max<std::int64_t>(1, count(turn));
    run(turn, detail::sizes_after_overflow(turn, config_, tokens), &detail::summarize_on_demand);
}

template <AgentMessage M>
std::vector<M> Summarization<M>::summarize(Conversation<M>& conversation, const ChainConfig& chain,
                                           const HookRequest<M>& request, const ChainCallbacks<M>& callbacks) const {
    Problems problems;
    check({chain, {}}, problems);
    problems.throw_if_errors("summarize");
    HookBudget budget = detail::budget_of(chain, chain.clock->now());
    StageReport report{.middleware = name_, .counter = chain.token_counter->id()};
    Turn<M> turn{conversation, chain, callbacks, request, budget, report, chain.language.value_or(default_language())};
    Transaction<M> edit = turn.edit();
    detail::SummarizationHost<M> host(turn, edit, config_, callbacks_, model_);
    host.keep_before();
    const detail::SummarizationFunctions functions = host.functions();
    const FoldSizes sizes = detail::sizes_of(turn, config_, count(turn));
    const bool is_made = detail::stage_summary_now({turn, edit, functions, config_, sizes});
    const MessageView<M> view = is_made ? edit.messages() : conversation.messages();
    std::vector<M> after(view.begin(), view.end());
    if (is_made) host.notify_done(after);
    return after;
}

/// The maker of `summarization_type`.
inline constexpr auto make_summarization =
    []<AgentMessage M>(const SummarizationConfig& config,
                       const MiddlewareBuildContext<M>& context) -> std::shared_ptr<Middleware<M>> {
    SummarizationCallbacks<M> callbacks;
    callbacks.failover = detail::failover_to<M>(context.model("failover.model"));
    return std::make_shared<Summarization<M>>(context.model(), config, std::move(callbacks), context.name_in_config);
};

}  // namespace whittle::inline v0

#define WHITTLE_DEFINES_SUMMARIZATION
#include "whittle/base/detail/compiled_types.hpp"
