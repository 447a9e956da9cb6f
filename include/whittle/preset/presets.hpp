#pragma once

#include "whittle/chain/chain.hpp"
#include "whittle/model/model.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/summarization/summarization.hpp"
#include "whittle/trimming/trimming.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// A whole chain that decides by itself: docs/choosing.md says which one is for whom, and what was measured.
enum class Preset {
    recommended,  ///< the cheapest with what the agent needs in sight
    lossless,     ///< nothing leaves but what the agent can read again, as it was
    local,        ///< a server of one's own that keeps the prompt: edits seldom and deep
    cheap,        ///< what is old goes earlier
};

/// "recommended", ...: the word in a configuration.
[[nodiscard]] std::string_view to_string(Preset preset) noexcept;
/// All of them, in the order of the documentation.
[[nodiscard]] std::span<const Preset> presets() noexcept;
/// The preset of that name; nullopt: there is none.
[[nodiscard]] std::optional<Preset> find_preset(std::string_view name) noexcept;

/// What a preset comes to: settings as you would write them, to be changed before a chain is made of them. The stages
/// run in the order of the members.
struct PresetConfig {
    ChainConfig chain{};                                 ///< storage, counter, profile, limits
    TrimmingConfig trimming{};                           ///< old results, cut to what is in use
    ReductionConfig reduction{};                         ///< long results on arrival, old ones from a trigger on
    std::optional<SummarizationConfig> summarization{};  ///< absent: no summaries, with a model or without
};

/// The settings of a preset. Sizes follow `profile.context_window`; without it (0) they hold for any window, and the
/// parts of it take force once an overflow tells one. A profile without a prompt cache (`no_cache`) gets that of the
/// preset: `anthropic_5m`, or `local` for `Preset::local`. The chain's storage is memory: set `chain.storage` to keep
/// originals longer than the program runs.
[[nodiscard]] PresetConfig preset_config(Preset preset, ModelProfile profile = {});

/// `preset_config(Preset::recommended, profile)`.
[[nodiscard]] inline PresetConfig recommended(ModelProfile profile = {}) {
    return preset_config(Preset::recommended, std::move(profile));
}

/// The summary with which the ladder ends; absent: there is none. Without a model it is written by rule, which needs a
/// known window: what nothing forces out stays.
[[nodiscard]] std::optional<SummarizationConfig> effective_summarization(const PresetConfig& config, bool has_model);

/// The stages of these settings, to put others beside them. `model` writes the summaries with which the ladder ends;
/// null: they are written by rule (`SummarizationConfig::rule_based_summary_tokens`).
template <AgentMessage M = ChatMessage>
[[nodiscard]] typename Chain<M>::Stages preset_stages(const PresetConfig& config,
                                                      std::type_identity_t<std::shared_ptr<Model<M>>> model = {}) {
    typename Chain<M>::Stages stages{std::make_shared<Trimming<M>>(config.trimming),
                                     std::make_shared<Reduction<M>>(config.reduction)};
    if (auto last = effective_summarization(config, model != nullptr))
        stages.push_back(std::make_shared<Summarization<M>>(std::move(model), *std::move(last)));
    return stages;
}

/// A chain of these settings and stages. Throws what `Chain` throws.
template <AgentMessage M = ChatMessage>
[[nodiscard]] Chain<M> make_chain(const PresetConfig& config,
                                  std::type_identity_t<std::shared_ptr<Model<M>>> model = {},
                                  std::type_identity_t<ChainCallbacks<M>> callbacks = {}) {
    return Chain<M>(config.chain, std::move(callbacks), preset_stages<M>(config, std::move(model)));
}
/// The same without a model.
template <AgentMessage M>
[[nodiscard]] Chain<M> make_chain(const PresetConfig& config, ChainCallbacks<M> callbacks) {
    return make_chain<M>(config, nullptr, std::move(callbacks));
}

}  // namespace whittle::inline v0
