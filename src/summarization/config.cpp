#include "whittle/summarization/config.hpp"

#include "../chain/size_in_window.hpp"
#include "whittle/base/detail/field_check.hpp"
#include "whittle/base/detail/saturating.hpp"
#include "whittle/summary/detail/summary_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace whittle::inline v0 {

namespace {

constexpr std::int64_t default_user_tokens = 30'000;

void check_trigger(const Trigger& trigger, const ChainConfig& chain, FieldCheck& check) {
    check.at_least(trigger.context_tokens, 0, "trigger.context_tokens");
    check.at_least(trigger.context_messages, 0, "trigger.context_messages");
    const bool is_fraction = check.fraction(trigger.context_fraction, "trigger.context_fraction");
    check.fraction(trigger.fraction_if_cache_cold, "trigger.fraction_if_cache_cold");
    const bool has_condition =
        trigger.context_tokens != 0 || trigger.context_messages != 0 || trigger.context_fraction != 0.0;
    check.error(!has_condition, "trigger", "all conditions off",
                "context_tokens, context_messages or context_fraction above 0");
    const int conditions = (trigger.context_tokens > 0 ? 1 : 0) + (trigger.context_messages > 0 ? 1 : 0) +
                           (is_fraction && trigger.context_fraction > 0.0 ? 1 : 0);
    check.warn(trigger.needs_all && conditions == 1, "trigger.needs_all", "true",
               "false, or two conditions or more: of one it changes nothing");
    const bool is_alone = trigger.needs_all || (trigger.context_tokens <= 0 && trigger.context_messages <= 0);
    check.warn(is_fraction && is_alone && trigger.context_fraction > 0.0 && chain.profile.context_window <= 0,
               "trigger.context_fraction", fmt::format("{}", trigger.context_fraction),
               "beside a model profile with its context_window (profile.context_window): until an overflow tells the "
               "window, this condition waits");
}

/// Settings that fight each other or come too late.
void check_summary_sizes(const SummarizationConfig& config, const ChainConfig& chain, FieldCheck& check) {
    const std::int64_t window = chain.profile.context_window;
    const std::int64_t known = limits_of(config.trigger, window).tokens;
    const std::int64_t limit = known == INT64_MAX ? 0 : known;
    const std::int64_t room = sub_saturating(window, chain.profile.output_reserve);
    const std::string value = std::to_string(limit);
    check.warn(limit > 0 && config.keep_recent_tokens >= limit, "keep_recent_tokens",
               std::to_string(config.keep_recent_tokens),
               fmt::format("below the trigger ({}), else little is left to fold: the tail is held to half of what the "
                           "trigger leaves",
                           limit));
    const std::int64_t messages = config.trigger.context_messages;
    check.warn(messages > 0 && config.keep_recent_messages >= messages, "keep_recent_messages",
               std::to_string(config.keep_recent_messages),
               fmt::format("below trigger.context_messages ({})", messages));
    check.warn(window > 0 && limit >= room, "trigger", value,
               fmt::format("below the context window less the output reserve ({}), else it comes too late", room));
    const std::int64_t bound = input_bound(config, window, chain.profile.output_reserve);
    check.warn(config.reuse_prompt_cache && limit > bound, "reuse_prompt_cache", "true",
               fmt::format("false, or a trigger ({}) of at most what one request may have (max_input_tokens: {}), else "
                           "the prefix seldom fits",
                           limit, bound));
    check.warn(limit > 0 && config.preserve_user_messages.max_tokens.value_or(0) >= limit,
               "preserve_user_messages.max_tokens",
               std::to_string(config.preserve_user_messages.max_tokens.value_or(0)),
               fmt::format("below the trigger ({})", limit));
}

/// A finalizer of the user's own does everything that comes behind the summary.
void check_switched_off(const SummarizationConfig& config, const SummarizationSetup& setup, FieldCheck& check) {
    const SummarizationConfig defaults;
    constexpr auto allowed = "left at its default: `finalize` switches it off (call `default_finalizer` from yours)";
    const auto warn = [&](bool is_set, std::string_view field) {
        check.warn(setup.has_finalize && is_set, field, "set beside finalize", allowed);
    };
    warn(!config.transcript_file_path.empty(), "transcript_file_path");
    warn(config.preserve_user_messages != defaults.preserve_user_messages || setup.has_user_message_filter,
         "preserve_user_messages");
    warn(config.offload_folded, "offload_folded");
    warn(config.continue_message, "continue_message");
    warn(config.summaries_per_level > 0, "summaries_per_level");
    warn(config.preserve_skills != defaults.preserve_skills, "preserve_skills");
    warn(config.preserve_work != defaults.preserve_work, "preserve_work");
    warn(config.attach_files != defaults.attach_files, "attach_files");
    warn(config.retained_facts_tokens != defaults.retained_facts_tokens, "retained_facts_tokens");
    check.warn(setup.has_gen_model_input && config.reuse_prompt_cache, "reuse_prompt_cache", "true",
               "false beside gen_model_input, which makes the whole input");
}

}  // namespace

TriggerLimits limits_of(const Trigger& trigger, std::int64_t window) noexcept {
    TriggerLimits limits{trigger.context_tokens, trigger.context_messages};
    limits.tokens_if_cache_cold = detail::size_in_window(0, trigger.fraction_if_cache_cold, window);
    const std::int64_t tokens = detail::size_in_window(0, trigger.context_fraction, window);
    if (trigger.needs_all && trigger.context_fraction > 0.0) {
        limits.tokens = std::max(limits.tokens, tokens > 0 ? tokens : INT64_MAX);
    } else if (tokens > 0) {
        limits.tokens = limits.tokens > 0 ? std::min(limits.tokens, tokens) : tokens;
    }
    return limits;
}

std::int64_t user_message_budget(const PreserveUserMessages& config, const Trigger& trigger) noexcept {
    if (!config.enabled) return 0;
    if (config.max_tokens) return *config.max_tokens;
    return trigger.context_tokens > 0 ? trigger.context_tokens / 3 : default_user_tokens;
}

std::int64_t failure_cool_down_tokens_of(const SummarizationConfig& config, std::int64_t trigger_tokens) noexcept {
    if (config.failure_cool_down_tokens > 0) return config.failure_cool_down_tokens;
    return std::max<std::int64_t>(1, trigger_tokens / 20);
}

std::int64_t input_bound(const SummarizationConfig& config, std::int64_t window, std::int64_t output_reserve) noexcept {
    return summary_input_bound(config.max_input_tokens, window,
                               std::max(output_reserve, config.model_options.max_output_tokens));
}

SummaryGenerationConfig summary_generation_config(const SummarizationConfig& config) {
    SummaryGenerationConfig result;
    result.model_options = config.model_options;
    result.max_input_tokens = config.max_input_tokens;
    result.max_summary_tokens = config.max_summary_tokens;
    result.user_instruction = config.user_instruction;
    result.required_sections = config.required_sections;
    result.retry = config.retry;
    result.failover = config.failover;
    return result;
}

void check_preserve_skills(const PreserveSkillsConfig& config, std::string_view name, Problems& problems) {
    FieldCheck check(name, problems);
    check.error(config.skill_tool_name.empty() && config.max_skills > 0, "skill_tool_name", "\"\"",
                "the name of the tool that loads skills");
    check.at_least(config.max_skills, 0, "max_skills");
    check.at_least(config.max_tokens_per_skill, 0, "max_tokens_per_skill");
    check.at_least(config.skills_token_budget, 0, "skills_token_budget");
}

void check_summarization(const SummarizationConfig& config, const ChainConfig& chain, const SummarizationSetup& setup,
                         std::string_view name, Problems& problems) {
    FieldCheck check(name, problems);
    check.at_least(config.rule_based_summary_tokens, 0, "rule_based_summary_tokens");
    check.error(!setup.has_model && config.rule_based_summary_tokens == 0, "model", "null",
                "a model that writes the summaries, or rule_based_summary_tokens above 0");
    check_trigger(config.trigger, chain, check);
    check.at_least(config.keep_recent_tokens, 0, "keep_recent_tokens");
    check.at_least(config.keep_recent_messages, 0, "keep_recent_messages");
    check.at_least(config.preserve_user_messages.max_tokens.value_or(0), 0, "preserve_user_messages.max_tokens");
    check_preserve_skills(config.preserve_skills, fmt::format("{}.preserve_skills", name), problems);
    check_preserve_work(config.preserve_work, fmt::format("{}.preserve_work", name), problems);
    check.at_least(config.attach_files.max_files, 0, "attach_files.max_files");
    check.at_least(config.attach_files.max_tokens_per_file, 1, "attach_files.max_tokens_per_file");
    check.at_least(config.attach_files.max_tokens, 0, "attach_files.max_tokens");
    check.at_least(config.retained_facts_tokens, 0, "retained_facts_tokens");
    check.error(config.summaries_per_level < 0 || config.summaries_per_level == 1, "summaries_per_level",
                std::to_string(config.summaries_per_level), "2 or more, or 0 for one summary");
    check.warn(config.summaries_per_level > 0 && wants_turns(chain.profile.validity), "summaries_per_level",
               std::to_string(config.summaries_per_level),
               "0 where the rules want user and assistant in turns: two summaries in a row break them");
    check.at_least(config.failure_cool_down_tokens, 0, "failure_cool_down_tokens");
    check_summary_generation(summary_generation_config(config), name, problems);
    check_summary_sizes(config, chain, check);
    check.warn(config.offload_folded && !chain.storage, "offload_folded", "true",
               "beside the chain's `storage`: without one nothing is stored");
    check.fraction(config.prepare_at_trigger_fraction, "prepare_at_trigger_fraction");
    check.warn(config.prepare_at_trigger_fraction > 0.0 && !setup.has_executor, "prepare_at_trigger_fraction",
               fmt::format("{}", config.prepare_at_trigger_fraction),
               "beside the callback `executor`, which runs it: without one nothing is prepared");
    check.warn(config.prepare_at_trigger_fraction > 0.0 &&
                   (setup.has_finalize || setup.has_gen_model_input || config.reuse_prompt_cache || !setup.has_model),
               "prepare_at_trigger_fraction", fmt::format("{}", config.prepare_at_trigger_fraction),
               "with a model and without finalize, gen_model_input and reuse_prompt_cache: else nothing is prepared");
    check.warn(config.check_sections && !config.user_instruction.empty(), "check_sections", "true",
               "required_sections beside a user_instruction: the built-in headings are not those of your task");
    const bool has_sections = config.check_sections || !config.required_sections.empty();
    check.warn(has_sections && (config.reuse_prompt_cache || setup.has_gen_model_input),
               config.check_sections ? "check_sections" : "required_sections", "set",
               "neither reuse_prompt_cache nor gen_model_input: an input of its own is not corrected");
    check_switched_off(config, setup, check);
    detail::warn_of_other_summarizers(setup.summarizers_before, "trigger", check);
}

}  // namespace whittle::inline v0
