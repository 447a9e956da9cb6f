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

/// Settings of `Compaction`; docs/compaction.md explains them. Sizes are those of whole requests.
struct CompactionConfig {
    std::int64_t threshold_tokens = 40'000;  ///< due above this many tokens, system text and tools included
    /// Instead: above this part of the model's window, once it is known; 0: off. 0.6 is a good value.
    double threshold_fraction = 0.0;
    std::int64_t target_tokens = 3'000;          ///< tokens that it works down to, the current turn not counted
    double target_fraction = 0.0;                ///< instead: this part of the model's window; 0: off
    std::int64_t summary_size_tokens = 1'000;    ///< the summarizer's output limit, enforced on what it wrote
    double summary_fraction = 0.0;               ///< instead: this part of the model's window; 0: off
    double skip_summary_margin_fraction = 0.15;  ///< no summary once the cheap stages come this far below the threshold
    std::optional<int> current_turn_keep_rounds{};  ///< newest tool rounds of the current turn that stay. Absent: all
    std::optional<PruningConfig> pruning{PruningConfig{}};  ///< the first stage. Absent: off
    MediaMode media = MediaMode::automatic;  ///< `automatic`, `keep`, `placeholder` or `reference`: media of old turns
    /// How this middleware counts. Null: as the chain; `pessimistic_counter()` is the source's.
    std::shared_ptr<const TokenCounter> token_counter{};
    /// Tokens of a summary by rule where there is no model, or the model's failed for good; 0: none. By
    /// `rule_based_summary`, within the summary's size.
    std::int64_t rule_based_summary_tokens = 0;
    SummaryRole summary_role = SummaryRole::automatic;  ///< the summary's role: `automatic`, `user` or `system`
    /// Plan, files and reports of sub-agents, word for word, in up to half of the summary's size.
    PreserveWorkConfig preserve_work{};
    std::string user_instruction{};     ///< the task, instead of the built-in one. Empty: that, in the chain's language
    GenerateOptions model_options{};    ///< options of every summary call, failover included
    std::int64_t max_input_tokens = 0;  ///< most tokens of a summary request; 0: the window less the reply, or 100000
    /// More attempts with the same model. Half a second apart, of errors that may pass.
    std::optional<RetryConfig> retry{RetryConfig{2}};
    std::optional<FailoverConfig> failover{};      ///< attempts with another model. Absent: none
    OnFailure on_failure = OnFailure::keep_going;  ///< `keep_going`: report and wait for growth; `propagate`: throw
    std::int64_t failure_cool_down_tokens =
        0;  ///< growth after a failure before the next attempt; 0: 5 % of the trigger
    /// Above this part of the trigger a summary is prepared on the host's executor; 0: off. By the summarizer on
    /// `prepare_executor` of the callbacks, so that no hook waits for the model.
    double prepare_at_trigger_fraction = 0.0;
};

/// The sizes that count for a window of that size (0: unknown). Tokens.
struct CompactionLimits {
    std::int64_t threshold = 0;  ///< above this it is due
    std::int64_t target = 0;     ///< what it comes down to
    std::int64_t summary = 0;    ///< of the summary, at most

    friend bool operator==(const CompactionLimits&, const CompactionLimits&) = default;
};
/// What the configuration asks for: a fraction that is set counts where the window is known, else the number of tokens.
/// Not yet fitted to the room of a request.
[[nodiscard]] CompactionLimits limits_of(const CompactionConfig& config, std::int64_t window) noexcept;

namespace detail {
/// The threshold is a fraction of a window that nobody knows yet.
[[nodiscard]] bool waits_for_window(const CompactionConfig& config, std::int64_t window) noexcept;
}  // namespace detail

/// `limits` where a request may have at most `room` tokens (0: unknown), in order again: summary < target < threshold.
[[nodiscard]] CompactionLimits fitted_to(CompactionLimits limits, std::int64_t room) noexcept;

/// At most this many tokens are left once no summary is needed after the cheap stages.
[[nodiscard]] std::int64_t skip_summary_threshold(const CompactionConfig& config, std::int64_t threshold) noexcept;

/// How many tokens a conversation has to grow after a failed summary.
[[nodiscard]] std::int64_t failure_cool_down_tokens_of(const CompactionConfig& config, std::int64_t threshold) noexcept;

/// The part of the configuration that summary generation takes. `summary_tokens`: the summary's size.
[[nodiscard]] SummaryGenerationConfig summary_generation_config(const CompactionConfig& config,
                                                                std::int64_t summary_tokens);

/// What the check of a configuration knows beside it.
struct CompactionSetup {
    bool has_summarizer = false;         ///< of its own: the agent's model prepares nothing
    bool has_executor = false;           ///< the callback is set
    std::size_t summarizers_before = 0;  ///< with a token trigger, before this one in the chain
};

/// Adds every bad or doubtful setting to `problems`, each under "{name}.".
void check_compaction(const CompactionConfig& config, const ChainConfig& chain, const CompactionSetup& setup,
                      std::string_view name, Problems& problems);

/// `config` with the sizes that `AGENT_COMPACTION_THRESHOLD`, `AGENT_COMPACTION_TARGET` and
/// `AGENT_COMPACTION_SUMMARY_SIZE` give, in tokens; each replaces its fraction too. An empty value is none.
/// `AGENT_COMPACTION_MODEL` is the caller's, who has the models (for configuration files:
/// `ConfigSource::host_makes_model`). Throws one Error(invalid_config) that names each variable which is no integer of
/// 1 or more.
[[nodiscard]] CompactionConfig with_environment_variables(CompactionConfig config, const EnvironmentLookup& lookup);

namespace detail {

/// The same in place; adds what is wrong, under the variable's name, and leaves that size as it was.
void read_compaction_environment(CompactionConfig& config, const EnvironmentLookup& lookup, Problems& problems);

}  // namespace detail

/// As configurations write it; `make_compaction` makes it.
[[nodiscard]] MiddlewareType<CompactionConfig> compaction_type();

}  // namespace whittle::inline v0
