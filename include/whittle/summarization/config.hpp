#pragma once

#include "whittle/chain/config.hpp"
#include "whittle/summary/config.hpp"
#include "whittle/summary/detail/fold.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// When a summary is due: any one condition is enough, or all of them. 0 switches a condition off.
struct Trigger {
    std::int64_t context_tokens = 0;    ///< more tokens than this, system text and tools included
    std::int64_t context_messages = 0;  ///< more messages than this
    double context_fraction = 0.0;  ///< more tokens than this part of the model's window, once one is known; at most 1
    /// More tokens than this part where a fold breaks no prompt cache: a stage with a schedule (`Trimming`) stands in
    /// front, and the cache has expired or that stage has just broken it.
    double free_fraction = 0.0;
    bool needs_all = false;  ///< due only while every condition that is on holds, not any one of them

    friend bool operator==(const Trigger&, const Trigger&) = default;
};

/// Whether the user's messages come back word for word beside the summary.
struct PreserveUserMessages {
    bool enabled = true;
    /// Tokens for all of them, newest first. Absent: a third of `trigger.context_tokens`, or 30'000 without one.
    std::optional<std::int64_t> max_tokens{};

    friend bool operator==(const PreserveUserMessages&, const PreserveUserMessages&) = default;
};

/// How skills that a tool loaded survive a summary.
struct PreserveSkillsConfig {
    std::string skill_tool_name = "skill";      ///< the tool whose results are skills
    int max_skills = 5;                         ///< newest ones kept; 0: none
    std::int64_t max_tokens_per_skill = 5'000;  ///< a longer one is cut at its end
    std::int64_t skills_token_budget = 25'000;  ///< for all of them

    friend bool operator==(const PreserveSkillsConfig&, const PreserveSkillsConfig&) = default;
};

/// How much of the files comes back that the callback `attach_files` gives.
struct AttachFilesConfig {
    int max_files = 5;                         ///< those used last; 0: none
    std::int64_t max_tokens_per_file = 5'000;  ///< a longer one is cut at its end
    std::int64_t max_tokens = 25'000;          ///< for all of them

    friend bool operator==(const AttachFilesConfig&, const AttachFilesConfig&) = default;
};

/// Settings of `Summarization`; docs/summarization.md has the table.
struct SummarizationConfig {
    Trigger trigger{.context_tokens = 160'000};
    std::int64_t keep_recent_tokens = 15'000;  ///< newest rounds kept word for word
    std::int64_t keep_recent_messages = 0;     ///< and at least this many messages, rounded up to whole rounds
    PreserveUserMessages preserve_user_messages{};
    PreserveSkillsConfig preserve_skills{};
    PreserveWorkConfig preserve_work{};
    AttachFilesConfig attach_files{};  ///< of the callback `attach_files`
    /// So many summaries of one level become one of the next: a summary stands for what is new, behind those that are
    /// there and stay byte for byte. 0: one summary, which each fold writes anew. Not on overflow, nor where the rules
    /// want user and assistant in turns.
    int summaries_per_level = 0;
    std::int64_t retained_facts_tokens = 1'000;  ///< for identifiers, paths and constraints that the summary lacks
    /// Tokens of a summary by rule, without a model (`plain_summary`): where no model is given, and where the model's
    /// summary failed for good. 0: none; then a model is required, and a failed summary leaves the history as it is.
    std::int64_t plain_summary_tokens = 0;
    std::string user_instruction{};  ///< empty: the built-in task in the chain's language
    bool check_sections =
        false;  ///< of the built-in task: where some lack, the model is told once which, and asked again
    std::vector<std::string> required_sections{};  ///< the same for headings of a task of one's own
    /// What is folded goes to the chain's storage as one text, and the summary says as which: the model can read what
    /// the summary lacks. Without a storage, and beside `finalize`, nothing is stored.
    bool offload_folded = false;
    std::string transcript_file_path{};  ///< told to the model behind the summary; empty: no word of it
    SummaryRole summary_role = SummaryRole::automatic;
    /// The order to go on stands in a user message of its own at the end, not in the summary, unless the user has just
    /// asked. `ChainConfig::before_commit` may refuse it alone (reason "continue").
    bool continue_message = false;
    /// Below the limits of the validity profile on images and bytes, too, after a summary or without one: too large
    /// images become references in the chain's storage, then media, oldest first, then for bytes results.
    bool fit_limits = false;
    bool emit_internal_events = false;    ///< before_summarize, generate_summary, after_summarize
    bool reuse_prompt_cache = false;      ///< ask with the conversation's own prefix and tools plus one instruction
    GenerateOptions model_options{};      ///< of every summary call, failover included
    std::int64_t max_input_tokens = 0;    ///< bound of one summary request; 0: see `input_bound`
    std::int64_t max_summary_tokens = 0;  ///< a longer summary is refused; 0: only what it replaces bounds it
    std::optional<RetryConfig> retry{};
    std::optional<FailoverConfig> failover{};
    std::int64_t cool_down_tokens = 0;  ///< growth after a failure before the next attempt; 0: 5 % of the trigger
    /// Above this part of the trigger in tokens a summary is prepared on the host's executor (`executor` of the
    /// callbacks), so that no hook waits for the model; 0: off. See docs/summarization.md.
    double prepare_fraction = 0.0;

    friend bool operator==(const SummarizationConfig&, const SummarizationConfig&) = default;
};

/// What a trigger comes to with a window of that size (0: unknown).
struct TriggerLimits {
    std::int64_t tokens = 0;       ///< the token condition that decides; 0: none; INT64_MAX: nobody knows it yet
    std::int64_t messages = 0;     ///< 0: none
    std::int64_t free_tokens = 0;  ///< where a fold breaks no cache; 0: none
};
[[nodiscard]] TriggerLimits limits_of(const Trigger& trigger, std::int64_t window) noexcept;

/// Tokens for the user's messages.
[[nodiscard]] std::int64_t user_message_budget(const PreserveUserMessages& config, const Trigger& trigger) noexcept;

/// How many tokens a conversation has to grow after a failed summary.
[[nodiscard]] std::int64_t cool_down_of(const SummarizationConfig& config, std::int64_t trigger_tokens) noexcept;

/// Tokens that one summary request may have: `max_input_tokens`; with 0 what the `window` leaves beside the reply,
/// which is the larger of `output_reserve` and `model_options.max_output_tokens`; with an unknown window (0)
/// `default_max_input_tokens`.
[[nodiscard]] std::int64_t input_bound(const SummarizationConfig& config, std::int64_t window,
                                       std::int64_t output_reserve) noexcept;

/// The part of the configuration that a digest takes.
[[nodiscard]] DigestConfig digest_config(const SummarizationConfig& config);

/// Which callbacks are set, as far as the configuration's check must know.
struct SummarizationSetup {
    bool has_model = true;
    bool has_finalize = false;
    bool has_gen_model_input = false;
    bool has_executor = false;
    bool has_user_message_filter = false;
    std::size_t other_summarisers = 0;  ///< with a token trigger, before this one in the chain
};

/// Adds every bad or doubtful setting to `problems`, each under "{name}.".
void check_summarization(const SummarizationConfig& config, const ChainConfig& chain, const SummarizationSetup& setup,
                         std::string_view name, Problems& problems);
void check_preserve_skills(const PreserveSkillsConfig& config, std::string_view name, Problems& problems);

/// As configurations write it; `make_summarization` makes it.
[[nodiscard]] MiddlewareType<SummarizationConfig> summarization_type();

}  // namespace whittle::inline v0
