#pragma once

#include "whittle/base/detail/backoff.hpp"
#include "whittle/base/error.hpp"
#include "whittle/model/model.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// More attempts with the same model.
struct RetryConfig {
    int max_retries = 3;  ///< attempts beside the first one

    friend bool operator==(const RetryConfig&, const RetryConfig&) = default;
};

/// Attempts with other models, once the first model's attempts are used up.
struct FailoverConfig {
    int max_retries = 3;  ///< attempts in all, once those of the first model are used up

    friend bool operator==(const FailoverConfig&, const FailoverConfig&) = default;
};

/// How messages become one summary. A middleware fills it from its own configuration.
struct SummaryGenerationConfig {
    GenerateOptions model_options{};             ///< goes with every call, those of failover models included
    std::int64_t max_input_tokens = 0;           ///< bound of one request; 0: `default_summary_input_tokens`
    std::int64_t max_summary_tokens = 0;         ///< a longer summary is refused; 0: only what it replaces bounds it
    std::int64_t max_tool_result_bytes = 8'000;  ///< of a longer tool result the model sees head and tail; 0: all of it
    std::string user_instruction{};              ///< empty: `summary_instruction`
    /// Headings that a summary should have. Where some lack, the model is asked once more and told which; what lacks
    /// fewer stands. Not for an input of the caller's own.
    std::vector<std::string> required_sections{};
    std::optional<RetryConfig> retry{};        ///< absent: one attempt
    std::optional<FailoverConfig> failover{};  ///< absent: none

    friend bool operator==(const SummaryGenerationConfig&, const SummaryGenerationConfig&) = default;
};

/// Names under which agents send off others: Claude Code, opencode, Gemini CLI, Roo Code and their kin.
[[nodiscard]] std::vector<std::string> default_subagent_tools();

/// What of the state of the work stands beside a summary, word for word and never through a model.
struct PreserveWorkConfig {
    std::int64_t plan_tokens = 500;       ///< tokens for the newest plan or task list; 0: none
    std::int64_t file_list_tokens = 500;  ///< tokens for files read and written, with lines, those used last; 0: none
    std::int64_t subagent_reports_tokens = 2'000;         ///< tokens for reports of sub-agents, the newest; 0: none
    std::int64_t max_tokens_per_subagent_report = 1'000;  ///< tokens of one report; of a longer one the head stays
    /// Tools whose newest arguments are the plan, beside those whose arguments show that they are one. Such arguments
    /// are a list of items with their states, or check boxes.
    std::vector<std::string> plan_tools{};
    /// Tools whose results are reports of sub-agents.
    std::vector<std::string> subagent_tools = default_subagent_tools();

    friend bool operator==(const PreserveWorkConfig&, const PreserveWorkConfig&) = default;
};

/// Adds every bad field to `problems`, each under "{name}.".
void check_preserve_work(const PreserveWorkConfig& config, std::string_view name, Problems& problems);

/// Most tokens of one summary request where no setting and no window says.
inline constexpr std::int64_t default_summary_input_tokens = 100'000;

/// Tokens that one summary request may have: `max_input_tokens`; with 0 what the `window` leaves beside a reply of
/// `reply_tokens`; with an unknown window (0) `default_summary_input_tokens`.
[[nodiscard]] std::int64_t summary_input_bound(std::int64_t max_input_tokens, std::int64_t window,
                                               std::int64_t reply_tokens) noexcept;

/// Adds every bad field to `problems`, each under "{name}.".
void check_summary_generation(const SummaryGenerationConfig& config, std::string_view name, Problems& problems);

}  // namespace whittle::inline v0
