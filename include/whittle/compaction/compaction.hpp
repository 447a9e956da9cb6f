#pragma once

#include "whittle/chain/chain.hpp"
#include "whittle/compaction/config.hpp"
#include "whittle/compaction/detail/compact.hpp"
#include "whittle/message/chat_message.hpp"
#include "whittle/model/detail/model_message.hpp"
#include "whittle/pruning/fetch_media.hpp"
#include "whittle/summary/detail/attempt.hpp"
#include "whittle/summary/summary.hpp"

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
    RetryCallbacks<M> retry{};        ///< default: `is_worth_a_retry`, half a second apart
    FailoverCallbacks<M> failover{};  ///< used if `failover` is configured
};

/// Whether another attempt with the same model can help: not after a refused key, a bad request or a model's refusal.
[[nodiscard]] bool is_worth_a_retry(const DigestError& error) noexcept;

/// Keeps every request below a threshold, from cheap to dear: prunes old tool results, takes media out of old messages,
/// folds the oldest turns into one summary. The current turn, leading system texts and pins stay as they are. One run
/// is one commit; the originals stay in the store and in the journal.
template <AgentMessage M = ChatMessage>
class Compaction final : public Middleware<M> {
public:
    /// `summariser` null: the agent's own model. Without one either, only the cheap stages run; that is reported once.
    explicit Compaction(std::shared_ptr<Model<M>> summariser = nullptr, CompactionConfig config = {},
                        CompactionCallbacks<M> callbacks = {}, std::string name = "compaction")
        : summariser_(std::move(summariser)),
          config_(std::move(config)),
          callbacks_(std::move(callbacks)),
          name_(std::move(name)) {}

    [[nodiscard]] std::string_view name() const noexcept override { return name_; }
    [[nodiscard]] const CompactionConfig& config() const noexcept { return config_; }

    void check(const ChainInfo& chain, Problems& problems) const override;
    [[nodiscard]] std::string_view task() const noexcept override { return fold_task; }
    [[nodiscard]] std::vector<Tool> tools(const ChainConfig& chain) const override {
        const bool stores_media =
            config_.pruning || config_.media == MediaMode::reference || config_.media == MediaMode::automatic;
        return stores_media ? detail::media_tools(chain) : std::vector<Tool>{};
    }
    void before_model(Turn<M>& turn) override;
    bool on_overflow(Turn<M>& turn, const Overflow& overflow) override;
    void compact_now(Turn<M>& turn) override;
    [[nodiscard]] std::size_t untouched_prefix(const Conversation<M>& conversation) const override {
        return detail::untouched_by_compaction(conversation.outline(), name_);
    }

private:
    [[nodiscard]] const std::shared_ptr<const TokenCounter>& counter(const Turn<M>& turn) const noexcept {
        return config_.token_counter ? config_.token_counter : turn.config.token_counter;
    }
    [[nodiscard]] std::int64_t count(Turn<M>& turn) const {
        return config_.token_counter ? counted(turn).total : turn.context_tokens();
    }
    [[nodiscard]] ContextCount counted(Turn<M>& turn) const {
        return turn.conversation.context(counter(turn), turn.request.system, turn.request.tools);
    }
    bool compact(Turn<M>& turn, const detail::CompactionSizes& sizes, bool is_forced) const;
    [[nodiscard]] DigestCallbacks<M> digest_callbacks() const;

    std::shared_ptr<Model<M>> summariser_;
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
    check_compaction(config_, chain.config, chain.rivals_before(name_), name_, problems);
}

template <AgentMessage M>
void Compaction<M>::before_model(Turn<M>& turn) {
    const std::int64_t tokens = count(turn);
    if (const auto limits = detail::due_limits(turn, config_, tokens))
        compact(turn, {*limits, tokens, counted(turn)}, false);
}

template <AgentMessage M>
bool Compaction<M>::on_overflow(Turn<M>& turn, const Overflow&) {
    const std::int64_t tokens = std::max<std::int64_t>(1, count(turn));
    const detail::CompactionSizes sizes{detail::limits_after_overflow(turn, config_, tokens), tokens, counted(turn)};
    return compact(turn, sizes, true);
}

/// Down to what the host wants, not to `target_tokens`.
template <AgentMessage M>
void Compaction<M>::compact_now(Turn<M>& turn) {
    const std::int64_t tokens = std::max<std::int64_t>(1, count(turn));
    compact(turn, {detail::limits_on_demand(turn, config_, tokens), tokens, counted(turn)}, true);
}

template <AgentMessage M>
bool Compaction<M>::compact(Turn<M>& turn, const detail::CompactionSizes& sizes, bool is_forced) const {
    EditEnvironment environment = turn.environment();
    environment.counter = counter(turn);
    Transaction<M> edit = turn.conversation.edit(name_, std::move(environment));
    Model<M>* const model = summariser_ ? summariser_.get() : turn.request.model;
    const auto digest_of = [&](const detail::DigestOrder& order, DigestState& state) -> DigestOutcome {
        const DigestTask<M> task{.model = *model,
                                 .messages = edit.messages(),
                                 .outline = edit.outline(),
                                 .fold = order.fold,
                                 .replaced_tokens = order.replaced_tokens,
                                 .accept = order.accept};
        DigestEnvironment with = digest_environment(turn);
        with.counter = counter(turn);
        return digest(task, order.config, digest_callbacks(), with, state);
    };
    return detail::compact({turn, edit, config_, sizes, model != nullptr, digest_of}, is_forced);
}

template <AgentMessage M>
DigestCallbacks<M> Compaction<M>::digest_callbacks() const {
    DigestCallbacks<M> callbacks{callbacks_.retry, callbacks_.failover, {}, {}};
    if (!callbacks.retry.should_retry) {
        callbacks.retry.should_retry = [](const Attempt<M>& attempt) {
            return attempt.error != nullptr && is_worth_a_retry(*attempt.error);
        };
    }
    if (!callbacks.retry.backoff)
        callbacks.retry.backoff = [](const Attempt<M>&) { return std::chrono::milliseconds(500); };
    return callbacks;
}

/// The maker of `compaction_type`.
inline constexpr auto make_compaction = []<AgentMessage M>(
                                            const CompactionConfig& config,
                                            const StageContext<M>& context) -> std::shared_ptr<Middleware<M>> {
    return std::make_shared<Compaction<M>>(
        context.model(), config, CompactionCallbacks<M>{{}, detail::failover_to<M>(context.model("failover.model"))},
        context.name);
};

}  // namespace whittle::inline v0

#define WHITTLE_DEFINES_COMPACTION
#include "whittle/base/detail/compiled_types.hpp"
