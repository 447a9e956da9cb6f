#pragma once

#include "whittle/chain/chain.hpp"
#include "whittle/compaction/callbacks.hpp"
#include "whittle/compaction/compaction_run.hpp"
#include "whittle/compaction/config.hpp"
#include "whittle/port/model_message.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0 {

/// Keeps every request below a threshold, from cheap to dear: prunes old tool results, takes media out of old messages,
/// folds the oldest turns into one summary. The current turn, leading system texts and pins stay as they are. One run
/// is one commit; the originals stay in the store and in the journal.
template <AgentMessage M = ChatMessage>
class Compaction final : public Middleware<M> {
public:
    /// `summariser` null: the agent's own model. Without one either, only the cheap stages run; that is reported once.
    /// `callbacks` in braces: the members of `CompactionCallbacks<M>`.
    explicit Compaction(std::shared_ptr<Model<M>> summariser = nullptr, CompactionConfig config = {},
                        detail::CompactionBraces<M> callbacks = {}, std::string name = "compaction")
        : Compaction(std::move(summariser), std::move(config), callbacks.take(), std::move(name)) {}
    template <std::same_as<CompactionCallbacks<M>> Callbacks>
    Compaction(std::shared_ptr<Model<M>> summariser, CompactionConfig config, Callbacks callbacks,
               std::string name = "compaction")
        : summariser_(std::move(summariser)),
          config_(std::move(config)),
          callbacks_(std::move(callbacks)),
          name_(std::move(name)) {}

    [[nodiscard]] std::string_view name() const noexcept override { return name_; }
    [[nodiscard]] const CompactionConfig& config() const noexcept { return config_; }

    void check(const ChainInfo& chain, Problems& problems) const override;
    [[nodiscard]] bool summarises() const noexcept override { return true; }
    [[nodiscard]] bool stores_media() const noexcept override {
        return config_.pruning || config_.media == MediaMode::reference || config_.media == MediaMode::automatic;
    }
    void before_model(Turn<M>& turn) override;
    bool on_overflow(Turn<M>& turn, const Overflow& overflow) override;
    [[nodiscard]] std::size_t untouched_prefix(const Conversation<M>& conversation) const override;

private:
    using Run = detail::CompactionRun<M>;

    /// What one hook works with.
    struct Sizes {
        CompactionLimits limits{};
        std::int64_t tokens = 0;  ///< of the whole request, as the threshold judges it
        ContextCount counted{};   ///< of the same, by the counter
    };

    /// A dry run leaves no notes behind.
    template <typename Value>
    static void note(Turn<M>& turn, std::string_view key, const Value& value) {
        if (!turn.config.dry_run) turn.notes().set(key, value);
    }
    static void forget(Turn<M>& turn, std::string_view key) {
        if (!turn.config.dry_run) turn.notes().erase(key);
    }

    [[nodiscard]] std::int64_t count(Turn<M>& turn) const;
    [[nodiscard]] ContextCount counted(Turn<M>& turn) const;
    bool climb(Turn<M>& turn, Run& run, const Sizes& sizes) const;
    [[nodiscard]] bool was_fruitless(Turn<M>& turn, const Run& run, const Sizes& sizes) const;
    void remember_fruitless(Turn<M>& turn, const Run& run, const Sizes& sizes) const;
    [[nodiscard]] Model<M>* model_of(Turn<M>& turn) const;
    [[nodiscard]] bool may_summarise(Turn<M>& turn, const Run& run, const Sizes& sizes) const;
    bool commit_cheap(Turn<M>& turn, Run& run, const Sizes& sizes) const;
    bool summarise(Turn<M>& turn, Run& run, const Sizes& sizes) const;
    bool write_summary(Turn<M>& turn, Run& run, const Sizes& sizes) const;
    bool report_broken(Turn<M>& turn, Run& run, const Sizes& sizes, const std::string& text) const;
    void report_obstacle(Turn<M>& turn, const Run& run, const Sizes& sizes) const;
    [[nodiscard]] CompactionLimits limits_for(Turn<M>& turn) const;
    void report_rest(Turn<M>& turn, const Sizes& sizes, const CommitResult& result) const;
    void report_failure(Turn<M>& turn, const Sizes& sizes, const DigestError& failure) const;

    std::shared_ptr<Model<M>> summariser_;
    CompactionConfig config_;
    CompactionCallbacks<M> callbacks_;
    std::string name_;
};

/// From a pointer to a class of one's own that is a model, too.
template <typename T>
Compaction(std::shared_ptr<T>, CompactionConfig = {}, detail::CompactionBraces<detail::ModelMessage<T>> = {},
           std::string = {}) -> Compaction<detail::ModelMessage<T>>;
template <typename T, AgentMessage M>
Compaction(std::shared_ptr<T>, CompactionConfig, CompactionCallbacks<M>, std::string = {}) -> Compaction<M>;

}  // namespace whittle::inline v0

#include "whittle/compaction/compaction_impl.hpp"

#define WHITTLE_DEFINES_COMPACTION
#include "whittle/base/compiled_types.hpp"
