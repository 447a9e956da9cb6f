#pragma once

#include "whittle/chain/config.hpp"
#include "whittle/model/model.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace whittle::inline v0 {

/// Learns from a server's timings (`Reply::timing`) what the cache profile `local` assumes: what a token that stays
/// costs at each call, in units of reading one token (docs/tokens.md). Not thread-safe.
class CacheProfileEstimator {
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
    std::size_t max_count = 32;  ///< the oldest goes where there would be more; 0: none are kept
    std::size_t min_step = 0;    ///< tokens between two of them, at least
};

/// What a self-hosted server keeps of one conversation, as a slot of llama-server does: the prompt that it read last
/// and its reply. Says what the next prompt makes it read, in its own tokens. Not thread-safe.
class ServerSlot {
public:
    /// A model that can go back to any token.
    ServerSlot() = default;
    /// One that goes back to checkpoints alone; each stands at the end of a prompt.
    explicit ServerSlot(SlotCheckpoints checkpoints) : checkpoints_(checkpoints) {}

    /// Tokens at the front of `prompt` that need not be read again. The last one always is: a reply starts from it.
    [[nodiscard]] std::size_t cached_tokens(std::span<const std::uint32_t> prompt) const noexcept;
    /// Tokens that the server reads for `prompt`: what llama-server tells as `prompt_n`.
    [[nodiscard]] std::size_t prefill_tokens(std::span<const std::uint32_t> prompt) const noexcept {
        return prompt.size() - cached_tokens(prompt);
    }
    /// The server has answered `prompt` with `reply`. The last token of a reply is written without being read.
    void answered(std::span<const std::uint32_t> prompt, std::span<const std::uint32_t> reply);

private:
    void add_checkpoint(std::size_t tokens);

    std::optional<SlotCheckpoints> checkpoints_{};
    std::vector<std::size_t> marks_{};  // ascending; the checkpoints
    std::vector<std::uint32_t> kept_{};
};

}  // namespace whittle::inline v0
