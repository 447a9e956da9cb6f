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
    std::int64_t context_tokens = 0;    ///< due above this many tokens, system text and tools included; 0: off
    std::int64_t context_messages = 0;  ///< due above this many messages; 0: off
    /// Due above this part of the model's window, once it is known; 0: off. At most 1.
    double context_fraction = 0.0;
    /// Due above this part where a fold breaks no prompt cache: after a pause, or behind a commit of `trimming`; 0:
    /// off. It needs a stage with a schedule (`Trimming`) in front.
    double fraction_if_cache_cold = 0.0;
    bool needs_all = false;  ///< due only while every condition that is on holds, not any one of them

    friend bool operator==(const Trigger&, const Trigger&) = default;
};

/// Whether the user's messages come back word for word beside the summary.
struct PreserveUserMessages {
    bool enabled = true;  ///< the user's messages come back word for word
    /// Tokens for all of them, newest first; 30000 without a trigger in tokens. Absent: a third of `context_tokens`.
    std::optional<std::int64_t> max_tokens{};

    friend bool operator==(const PreserveUserMessages&, const PreserveUserMessages&) = default;
};

/// How skills that a tool loaded survive a summary.
struct PreserveSkillsConfig {
    std::string skill_tool_name = "skill";      ///< the tool whose results are skills
    int max_skills = 5;                         ///< newest skills kept; 0: none
    std::int64_t max_tokens_per_skill = 5'000;  ///< tokens of one skill; a longer one is cut at its end
    std::int64_t skills_token_budget = 25'000;  ///< tokens for all skills

    friend bool operator==(const PreserveSkillsConfig&, const PreserveSkillsConfig&) = default;
};

/// How much of the files comes back that the callback `attach_files` gives.
struct AttachFilesConfig {
    int max_files = 5;                         ///< files that come back, those used last; 0: none
    std::int64_t max_tokens_per_file = 5'000;  ///< tokens of one file; a longer one is cut at its end
    std::int64_t max_tokens = 25'000;          ///< tokens for all files

    friend bool operator==(const AttachFilesConfig&, const AttachFilesConfig&) = default;
};

/// Settings of `Summarization`; docs/summarization.md explains them.
struct SummarizationConfig {
    Trigger trigger{.context_tokens = 160'000};     ///< any one condition starts a summary
    std::int64_t keep_recent_tokens = 15'000;       ///< tokens of the newest rounds kept word for word
    std::int64_t keep_recent_messages = 0;          ///< newest messages kept at least, rounded up to whole rounds
    PreserveUserMessages preserve_user_messages{};  ///< the user's messages, word for word
    PreserveSkillsConfig preserve_skills{};         ///< skills that a tool loaded
    PreserveWorkConfig preserve_work{};             ///< plan, files and reports of sub-agents, word for word
    AttachFilesConfig attach_files{};               ///< files that the host's callback `attach_files` gives
    /// So many summaries of one level become one of the next; 0: one summary, written anew by each fold. A summary
    /// stands for what is new, behind those that are there and stay byte for byte. Not on overflow, nor where the rules
    /// want user and assistant in turns.
    int summaries_per_level = 0;
    std::int64_t retained_facts_tokens = 1'000;  ///< tokens for identifiers, paths, constraints that the summary lacks
    /// Tokens of a summary by rule where no model is given, or the model's failed for good; 0: none. By
    /// `rule_based_summary`. With 0 a model is required, and a failed summary leaves the history as it is.
    std::int64_t rule_based_summary_tokens = 0;
    std::string user_instruction{};  ///< the task, instead of the built-in one. Empty: that, in the chain's language
    /// Where sections of the built-in task lack, the model is told once which, and asked again.
    bool check_sections = false;
    std::vector<std::string> required_sections{};  ///< headings that a task of one's own asks for; checked likewise
    /// What is folded goes to the chain's storage as one text, and the summary says as which. The model can read there
    /// what the summary lacks. Without a storage, and beside `finalize`, nothing is stored.
    bool offload_folded = false;
    /// Path that the model is told behind the summary; the host writes the file (`Transcript`). Empty: no word of it.
    std::string transcript_file_path{};
    SummaryRole summary_role = SummaryRole::automatic;  ///< the summary's role: `automatic`, `user` or `system`
    /// The order to go on stands in a message of its own at the end, not in the summary. It is a user message, and is
    /// not there if the user has just asked. `ChainConfig::before_commit` may refuse it alone (reason "continue").
    bool continue_message = false;
    /// Keep requests within a provider's limits of images and bytes. Also without a summary: too large images become
    /// references in the chain's storage, then media, oldest first, then for bytes results.
    bool fit_image_and_byte_limits = false;
    bool emit_internal_events = false;    ///< events before_summarize, generate_summary, after_summarize
    bool reuse_prompt_cache = false;      ///< ask with the conversation's own prefix and tools plus one instruction
    GenerateOptions model_options{};      ///< options of every summary call, failover included
    std::int64_t max_input_tokens = 0;    ///< most tokens of a summary request; 0: the window less the reply, or 100000
    std::int64_t max_summary_tokens = 0;  ///< a longer summary is refused; 0: only what it replaces bounds it
    std::optional<RetryConfig> retry{};   ///< more attempts with the same model. Absent: one attempt
    std::optional<FailoverConfig> failover{};  ///< attempts with another model. Absent: none
    std::int64_t failure_cool_down_tokens =
        0;  ///< growth after a failure before the next attempt; 0: 5 % of the trigger
    /// Above this part of the trigger a summary is prepared on the host's executor; 0: off. Of the trigger in tokens,
    /// by `prepare_executor` of the callbacks: no hook waits for the model; docs/summarization.md.
    double prepare_at_trigger_fraction = 0.0;

    friend bool operator==(const SummarizationConfig&, const SummarizationConfig&) = default;
};

/// What a trigger comes to with a window of that size (0: unknown).
struct TriggerLimits {
    std::int64_t tokens = 0;    ///< the token condition that decides; 0: none; INT64_MAX: nobody knows it yet
    std::int64_t messages = 0;  ///< 0: none
    std::int64_t tokens_if_cache_cold = 0;  ///< where a fold breaks no cache; 0: none
};
/// A trigger that needs both conditions is never due (INT64_MAX tokens) where its fraction has no window.
[[nodiscard]] TriggerLimits limits_of(const Trigger& trigger, std::int64_t window) noexcept;

/// Tokens for the user's messages.
[[nodiscard]] std::int64_t user_message_budget(const PreserveUserMessages& config, const Trigger& trigger) noexcept;

/// How many tokens a conversation has to grow after a failed summary.
[[nodiscard]] std::int64_t failure_cool_down_tokens_of(const SummarizationConfig& config,
                                                       std::int64_t trigger_tokens) noexcept;

/// Tokens that one summary request may have: `max_input_tokens`; with 0 what the `window` leaves beside the reply,
/// which is the larger of `output_reserve` and `model_options.max_output_tokens`; with an unknown window (0)
/// `default_summary_input_tokens`.
[[nodiscard]] std::int64_t input_bound(const SummarizationConfig& config, std::int64_t window,
                                       std::int64_t output_reserve) noexcept;

/// The part of the configuration that summary generation takes.
[[nodiscard]] SummaryGenerationConfig summary_generation_config(const SummarizationConfig& config);

/// Which callbacks are set, as far as the configuration's check must know.
struct SummarizationSetup {
    bool has_model = true;                 ///< a model can be asked
    bool has_finalize = false;             ///< `SummarizationCallbacks::finalize` is set
    bool has_gen_model_input = false;      ///< likewise `gen_model_input`
    bool has_executor = false;             ///< likewise `prepare_executor`
    bool has_user_message_filter = false;  ///< likewise `user_message_filter`
    std::size_t summarizers_before = 0;    ///< with a token trigger, before this one in the chain
};

/// Adds every bad or doubtful setting to `problems`, each under "{name}.".
void check_summarization(const SummarizationConfig& config, const ChainConfig& chain, const SummarizationSetup& setup,
                         std::string_view name, Problems& problems);
/// Adds every bad setting to `problems`, each under "{name}.".
void check_preserve_skills(const PreserveSkillsConfig& config, std::string_view name, Problems& problems);

/// As configurations write it; `make_summarization` makes it.
[[nodiscard]] MiddlewareType<SummarizationConfig> summarization_type();

}  // namespace whittle::inline v0
