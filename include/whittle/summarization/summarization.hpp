#pragma once

#include "whittle/chain/chain.hpp"
#include "whittle/digest/digest.hpp"
#include "whittle/port/model_message.hpp"
#include "whittle/summarization/callbacks.hpp"
#include "whittle/summarization/config.hpp"
#include "whittle/summarization/finalizer.hpp"
#include "whittle/summarization/fold_run.hpp"
#include "whittle/summarization/transcript.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// Folds the older part of a conversation into a summary that a model writes, once the conversation passes a trigger.
/// System texts, pins, the newest user message, the open round and the recent tail stay as they are; the user's
/// messages, skills and facts that the summary lacks come along. The originals stay in the journal. Whatever fails, the
/// conversation is untouched.
template <AgentMessage M = ChatMessage>
class Summarization final : public Middleware<M> {
public:
    /// `callbacks` in braces: the members of `SummarizationCallbacks<M>`.
    explicit Summarization(std::shared_ptr<Model<M>> model, SummarizationConfig config = {},
                           detail::SummarizationBraces<M> callbacks = {}, std::string name = "summarization")
        : Summarization(std::move(model), std::move(config), callbacks.take(), std::move(name)) {}
    template <std::same_as<SummarizationCallbacks<M>> Callbacks>
    Summarization(std::shared_ptr<Model<M>> model, SummarizationConfig config, Callbacks callbacks,
                  std::string name = "summarization")
        : model_(std::move(model)),
          config_(std::move(config)),
          callbacks_(std::move(callbacks)),
          name_(std::move(name)) {}

    [[nodiscard]] std::string_view name() const noexcept override { return name_; }
    [[nodiscard]] const SummarizationConfig& config() const noexcept { return config_; }

    void check(const ChainInfo& chain, Problems& problems) const override;
    [[nodiscard]] bool summarises() const noexcept override { return true; }
    void before_model(Turn<M>& turn) override;
    bool on_overflow(Turn<M>& turn, const Overflow& overflow) override;
    [[nodiscard]] std::size_t untouched_prefix(const Conversation<M>& conversation) const override;

    /// What the messages would be after a summary now, whatever the trigger says. Edits nothing; callbacks and internal
    /// events run as in a hook. The messages as they are if there is nothing to fold. Throws Error(invalid_config),
    /// Error(model_failed) and Error(cancelled).
    [[nodiscard]] std::vector<M> summarize(Conversation<M>& conversation, const ChainConfig& chain = {},
                                           const HookRequest<M>& request = {},
                                           const ChainCallbacks<M>& callbacks = {}) const;

private:
    using Run = detail::FoldRun<M>;

    [[nodiscard]] std::int64_t count(Turn<M>& turn) const;
    [[nodiscard]] FoldSizes triggers_of(Turn<M>& turn, std::int64_t tokens) const;
    [[nodiscard]] FoldSizes sizes_of(Turn<M>& turn, std::int64_t tokens) const;
    [[nodiscard]] bool is_due(Turn<M>& turn, const FoldSizes& sizes) const;
    [[nodiscard]] bool may_try(Turn<M>& turn, const Run& run, const FoldSizes& sizes) const;
    bool fold(Turn<M>& turn, Run& run, const FoldSizes& sizes) const;
    [[nodiscard]] bool fits_rules(Turn<M>& turn, Run& run, const FoldSizes& sizes) const;
    [[nodiscard]] bool write_summary(Turn<M>& turn, Run& run, const FoldSizes& sizes) const;
    void report_success(Turn<M>& turn, const FoldSizes& sizes, const CommitResult& result) const;
    void report_failure(Turn<M>& turn, const FoldSizes& sizes, const DigestError& failure) const;
    void wait_for_growth(Turn<M>& turn, const FoldSizes& sizes, std::int64_t tokens) const;
    void tell_user(Turn<M>& turn, std::span<const M> before, std::span<const M> after) const;

    std::shared_ptr<Model<M>> model_;
    SummarizationConfig config_;
    SummarizationCallbacks<M> callbacks_;
    std::string name_;
};

/// From a pointer to a class of one's own that is a model, too.
template <typename T>
Summarization(std::shared_ptr<T>, SummarizationConfig = {}, detail::SummarizationBraces<detail::ModelMessage<T>> = {},
              std::string = {}) -> Summarization<detail::ModelMessage<T>>;
template <typename T, AgentMessage M>
Summarization(std::shared_ptr<T>, SummarizationConfig, SummarizationCallbacks<M>, std::string = {}) -> Summarization<M>;

}  // namespace whittle::inline v0

#include "whittle/summarization/summarization_impl.hpp"

#define WHITTLE_DEFINES_SUMMARIZATION
#include "whittle/base/compiled_types.hpp"
