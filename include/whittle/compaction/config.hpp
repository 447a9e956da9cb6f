#pragma once

#include "whittle/chain/config.hpp"
#include "whittle/fields/config_entry.hpp"
#include "whittle/pruning/config.hpp"
#include "whittle/summary/config.hpp"
#include "whittle/summary/detail/fold.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// What `Compaction` does when no summary comes about.
enum class OnFailure {
    keep_going,  ///< the history stays, it is reported, and the next attempt waits until the conversation has grown
    propagate,   ///< the hook throws, once the attempts are used up; `ChainConfig::on_error` decides who sees it
};

/// Settings of `Compaction`; docs/compaction.md has the table. Sizes are those of whole requests.
struct CompactionConfig {
    std::int64_t threshold_tokens = 40'000;  ///< compaction starts above it
    double threshold_fraction =
        0.0;  ///< of the model's window, instead; 0: off; 0.6 is a good value; waits for a window
    std::int64_t target_tokens = 3'000;        ///< what it works down to, the current turn not counted
    double target_fraction = 0.0;              ///< of the window, instead; 0: off
    std::int64_t summary_size_tokens = 1'000;  ///< the model's output limit, and enforced on what it wrote
    double summary_fraction = 0.0;             ///< of the window, instead; 0: off
    double runway_fraction = 0.15;             ///< no summary once the cheap stages come this far below the threshold
    std::optional<int> current_turn_keep_rounds{};          ///< absent: all of the current turn stays; else so many
    std::optional<PruningConfig> pruning{PruningConfig{}};  ///< stage 0; absent: off
    MediaMode media = MediaMode::automatic;                 ///< stage 1
    std::shared_ptr<const TokenCounter> token_counter{};    ///< null: the chain's; `pessimistic()` is the source's
    /// Tokens of a summary by rule, without a model (`plain_summary`), within the summary's size: where there is no
    /// model, and where the model's summary failed for good. 0: none.
    std::int64_t plain_summary_tokens = 0;
    SummaryRole summary_role = SummaryRole::automatic;
    PreserveWorkConfig preserve_work{};  ///< in at most half of the summary's size
    std::string user_instruction{};      ///< empty: the built-in task in the chain's language
    GenerateOptions model_options{};     ///< of every summary call; the output limit is the summary's size
    std::int64_t max_input_tokens = 0;   ///< bound of one summary request; 0: what the window leaves
    std::optional<RetryConfig> retry{RetryConfig{2}};  ///< 0.5 s apart, of errors that may pass
    std::optional<FailoverConfig> failover{};
    OnFailure on_failure = OnFailure::keep_going;
    std::int64_t cool_down_tokens = 0;  ///< growth after a failure before the next attempt; 0: 5 % of the threshold
    /// Above this part of the threshold a summary is prepared by the summariser on the host's executor (`executor` of
    /// the callbacks), so that no hook waits for the model; 0: off.
    double prepare_fraction = 0.0;
};

/// The sizes that count for a window of that size (0: unknown). Tokens.
struct CompactionLimits {
    std::int64_t threshold = 0;
    std::int64_t target = 0;
    std::int64_t summary = 0;

    friend bool operator==(const CompactionLimits&, const CompactionLimits&) = default;
};
[[nodiscard]] CompactionLimits limits_of(const CompactionConfig& config, std::int64_t window) noexcept;

namespace detail {
/// The threshold is a fraction of a window that nobody knows yet.
[[nodiscard]] bool waits_for_window(const CompactionConfig& config, std::int64_t window) noexcept;
}  // namespace detail

/// `limits` where a request may have at most `room` tokens (0: unknown), in order again: summary < target < threshold.
[[nodiscard]] CompactionLimits fitting(CompactionLimits limits, std::int64_t room) noexcept;

/// At most this many tokens are left once no summary is needed after the cheap stages.
[[nodiscard]] std::int64_t runway_end(const CompactionConfig& config, std::int64_t threshold) noexcept;

/// How many tokens a conversation has to grow after a failed summary.
[[nodiscard]] std::int64_t cool_down_of(const CompactionConfig& config, std::int64_t threshold) noexcept;

/// The part of the configuration that a digest takes. `summary_tokens`: the summary's size.
[[nodiscard]] DigestConfig digest_config(const CompactionConfig& config, std::int64_t summary_tokens);

/// What the check of a configuration knows beside it.
struct CompactionSetup {
    bool has_summariser = false;        ///< of its own: the agent's model prepares nothing
    bool has_executor = false;          ///< the callback is set
    std::size_t other_summarisers = 0;  ///< with a token trigger, before this one in the chain
};

/// Adds every bad or doubtful setting to `problems`, each under "{name}.".
void check_compaction(const CompactionConfig& config, const ChainConfig& chain, const CompactionSetup& setup,
                      std::string_view name, Problems& problems);

/// `config` with the sizes that `AGENT_COMPACTION_THRESHOLD`, `AGENT_COMPACTION_TARGET` and
/// `AGENT_COMPACTION_SUMMARY_SIZE` give, in tokens; each replaces its fraction too. An empty value is none.
/// `AGENT_COMPACTION_MODEL` is the caller's, who has the models (for configuration files: `ConfigSource::knows_model`).
/// Throws one Error(invalid_config) that names each variable which is no integer of 1 or more.
[[nodiscard]] CompactionConfig with_environment(CompactionConfig config, const EnvironmentLookup& lookup);

namespace detail {

/// The same in place; adds what is wrong, under the variable's name, and leaves that size as it was.
void read_compaction_environment(CompactionConfig& config, const EnvironmentLookup& lookup, Problems& problems);

}  // namespace detail

/// As configurations write it; `make_compaction` makes it.
[[nodiscard]] MiddlewareType<CompactionConfig> compaction_type();

}  // namespace whittle::inline v0
