#pragma once

#include "whittle/chain/chain.hpp"
#include "whittle/port/model.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/reduction/trimming.hpp"
#include "whittle/summarization/summarization.hpp"

#include <cstddef>
#include <cstdint>
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

[[nodiscard]] std::string_view name_of(Preset preset) noexcept;
/// All of them, in the order of the documentation.
[[nodiscard]] std::span<const Preset> presets() noexcept;
/// The preset of that name; nullopt: there is none.
[[nodiscard]] std::optional<Preset> find_preset(std::string_view name) noexcept;

/// What a preset comes to: settings as you would write them, to be changed before a chain is made of them. The stages
/// run in the order of the members.
struct PresetConfig {
    ChainConfig chain{};
    TrimmingConfig trimming{};
    ReductionConfig reduction{};
    std::optional<SummarizationConfig> summarization{};  ///< absent: no summaries, with a model or without
};

/// The settings of a preset. Sizes follow `profile.context_window`; without it (0) they hold for any window, and the
/// parts of it take force once an overflow tells one. A profile without a prompt cache (`no_cache`) gets that of the
/// preset: `anthropic_5m`, or `local` for `Preset::local`. The chain's storage is memory: set `chain.storage` to keep
/// originals longer than the program runs.
[[nodiscard]] PresetConfig preset_config(Preset preset, ModelProfile profile = {});

[[nodiscard]] inline PresetConfig recommended(ModelProfile profile = {}) {
    return preset_config(Preset::recommended, std::move(profile));
}

/// Learns from a server's timings (`Reply::timing`) what the cache profile `local` assumes: what a token that stays
/// costs at each call, in units of reading one token (docs/cost.md). Not thread-safe.
class ServerSpeed {
public:
    /// Replies without output, or with numbers below 0, say nothing.
    void observe(const ServerTiming& timing) noexcept;
    /// `local` with what was learnt. As it is until prompts of 1,000 tokens in all were read, and replies came at
    /// contexts that differ by 1,000 tokens.
    [[nodiscard]] CacheProfile profile() const;

private:
    double read_tokens_ = 0.0;
    double read_ms_ = 0.0;
    // Over replies: the context, and the milliseconds of a token that was written at it.
    double replies_ = 0.0;
    double output_tokens_ = 0.0;
    double context_sum_ = 0.0;
    double pace_sum_ = 0.0;
    double context_squares_ = 0.0;
    double products_ = 0.0;
    double least_context_ = 0.0;
    double most_context_ = 0.0;
};

/// Where a server can take up a prompt that it has read, if its model cannot go back to any token: one with a recurrent
/// state or a sliding window, for which llama-server keeps checkpoints (`--ctx-checkpoints`, `--checkpoint-min-step`).
struct SlotCheckpoints {
    std::size_t most = 32;     ///< the oldest goes where there would be more; 0: none are kept
    std::size_t min_step = 0;  ///< tokens between two of them, at least
};

/// What a server of one's own keeps of one conversation, as a slot of llama-server does: the prompt that it read last
/// and its reply. Says what the next prompt makes it read, in its own tokens. Not thread-safe.
class ServerSlot {
public:
    /// A model that can go back to any token.
    ServerSlot() = default;
    /// One that goes back to checkpoints alone; each stands at the end of a prompt.
    explicit ServerSlot(SlotCheckpoints checkpoints) : checkpoints_(checkpoints) {}

    /// Tokens at the front of `prompt` that need not be read again. The last one always is: a reply starts from it.
    [[nodiscard]] std::size_t cached(std::span<const std::uint32_t> prompt) const noexcept;
    /// Tokens that the server reads for `prompt`: what llama-server tells as `prompt_n`.
    [[nodiscard]] std::size_t prefill(std::span<const std::uint32_t> prompt) const noexcept {
        return prompt.size() - cached(prompt);
    }
    /// The server has answered `prompt` with `reply`. The last token of a reply is written without being read.
    void answered(std::span<const std::uint32_t> prompt, std::span<const std::uint32_t> reply);

private:
    void add_checkpoint(std::size_t tokens);

    std::optional<SlotCheckpoints> checkpoints_{};
    std::vector<std::size_t> marks_{};  // ascending; the checkpoints
    std::vector<std::uint32_t> kept_{};
};

/// The summary with which the ladder ends; absent: there is none. Without a model it is written by rule, which needs a
/// known window: what nothing forces out stays.
[[nodiscard]] std::optional<SummarizationConfig> last_stage(const PresetConfig& config, bool has_model);

/// The stages of these settings, to put others beside them. `model` writes the summaries with which the ladder ends;
/// null: they are written by rule (`SummarizationConfig::plain_summary_tokens`).
template <AgentMessage M = ChatMessage>
[[nodiscard]] typename Chain<M>::Stages preset_stages(const PresetConfig& config,
                                                      std::type_identity_t<std::shared_ptr<Model<M>>> model = {}) {
    typename Chain<M>::Stages stages{std::make_shared<Trimming<M>>(config.trimming),
                                     std::make_shared<Reduction<M>>(config.reduction)};
    if (auto last = last_stage(config, model != nullptr))
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
