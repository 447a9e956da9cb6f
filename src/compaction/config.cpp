#include "whittle/compaction/config.hpp"

#include "../chain/size_in_window.hpp"
#include "whittle/base/detail/field_check.hpp"
#include "whittle/base/detail/saturating.hpp"
#include "whittle/compaction/compaction.hpp"
#include "whittle/summary/detail/summary_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace whittle::inline v0 {

namespace {

void check_fraction(double fraction, const ChainConfig& chain, std::string_view field, FieldCheck& check) {
    const bool is_set = check.fraction(fraction, field) && fraction > 0.0;
    check.warn(is_set && chain.profile.context_window <= 0, field, fmt::format("{}", fraction),
               "beside a model profile with its context_window (profile.context_window): until an overflow tells the "
               "window, a threshold waits and other sizes are those in tokens");
}

void check_compaction_sizes(const CompactionConfig& config, const ChainConfig& chain, FieldCheck& check) {
    check.at_least(config.threshold_tokens, 1, "threshold_tokens");
    check.at_least(config.target_tokens, 1, "target_tokens");
    check.at_least(config.summary_size_tokens, 1, "summary_size_tokens");
    check_fraction(config.threshold_fraction, chain, "threshold_fraction", check);
    check_fraction(config.target_fraction, chain, "target_fraction", check);
    check_fraction(config.summary_fraction, chain, "summary_fraction", check);
    CompactionLimits limits = limits_of(config, chain.profile.context_window);
    if (detail::waits_for_window(config, chain.profile.context_window)) limits.threshold = INT64_MAX;
    const bool is_target_of_window = config.target_fraction > 0.0;
    const bool is_summary_of_window = config.summary_fraction > 0.0;
    check.error(limits.target >= limits.threshold, is_target_of_window ? "target_fraction" : "target_tokens",
                fmt::format("{} tokens", limits.target), fmt::format("below the threshold ({})", limits.threshold));
    check.error(limits.summary >= limits.target, is_summary_of_window ? "summary_fraction" : "summary_size_tokens",
                fmt::format("{} tokens", limits.summary), fmt::format("below the target ({})", limits.target));
    const std::int64_t room = sub_saturating(chain.profile.context_window, chain.profile.output_reserve);
    check.warn(chain.profile.context_window > 0 && limits.threshold >= room,
               config.threshold_fraction > 0.0 ? "threshold_fraction" : "threshold_tokens",
               fmt::format("{} tokens", limits.threshold),
               fmt::format("below the context window less the output reserve ({}), to which it is lowered", room));
}

}  // namespace

bool is_retryable(const SummaryError& error) noexcept {
    if (error.failure == SummaryFailure::refused) return error.refusal != Refusal::refusal;
    if (error.failure != SummaryFailure::model) return false;
    if (!error.model_error) return true;
    const ModelErrorClass kind = *error.model_error;
    return kind == ModelErrorClass::rate_limit || kind == ModelErrorClass::server || kind == ModelErrorClass::transport;
}

bool detail::waits_for_window(const CompactionConfig& config, std::int64_t window) noexcept {
    return config.threshold_fraction > 0.0 && window <= 0;
}

CompactionLimits limits_of(const CompactionConfig& config, std::int64_t window) noexcept {
    return {.threshold = detail::size_in_window(config.threshold_tokens, config.threshold_fraction, window),
            .target = detail::size_in_window(config.target_tokens, config.target_fraction, window),
            .summary = detail::size_in_window(config.summary_size_tokens, config.summary_fraction, window)};
}

CompactionLimits fitted_to(CompactionLimits limits, std::int64_t room) noexcept {
    if (room > 0) limits.threshold = std::min(limits.threshold, room);
    if (limits.target >= limits.threshold) limits.target = std::max<std::int64_t>(1, limits.threshold / 2);
    if (limits.summary >= limits.target) limits.summary = std::max<std::int64_t>(1, limits.target / 2);
    return limits;
}

std::int64_t skip_summary_threshold(const CompactionConfig& config, std::int64_t threshold) noexcept {
    return to_int64(std::floor(static_cast<double>(threshold) * (1.0 - config.skip_summary_margin_fraction)));
}

std::int64_t failure_cool_down_tokens_of(const CompactionConfig& config, std::int64_t threshold) noexcept {
    return config.failure_cool_down_tokens > 0 ? config.failure_cool_down_tokens
                                               : std::max<std::int64_t>(1, threshold / 20);
}

SummaryGenerationConfig summary_generation_config(const CompactionConfig& config, std::int64_t summary_tokens) {
    SummaryGenerationConfig result;
    result.model_options = config.model_options;
    result.model_options.max_output_tokens = summary_tokens;
    result.max_input_tokens = config.max_input_tokens;
    result.user_instruction = config.user_instruction;
    result.retry = config.retry;
    result.failover = config.failover;
    return result;
}

void check_compaction(const CompactionConfig& config, const ChainConfig& chain, const CompactionSetup& setup,
                      std::string_view name, Problems& problems) {
    FieldCheck check(name, problems);
    check_compaction_sizes(config, chain, check);
    const bool is_share = config.skip_summary_margin_fraction >= 0.0 && config.skip_summary_margin_fraction < 1.0;
    check.error(!is_share, "skip_summary_margin_fraction", fmt::format("{}", config.skip_summary_margin_fraction),
                "0 to below 1");
    if (config.current_turn_keep_rounds)
        check.at_least(*config.current_turn_keep_rounds, 1, "current_turn_keep_rounds");
    if (config.pruning) check_pruning(*config.pruning, fmt::format("{}.pruning", name), problems);
    const bool has_store = chain.storage != nullptr || (config.pruning && config.pruning->storage != nullptr);
    check.warn(config.media == MediaMode::reference && !has_store, "media", "reference",
               "a chain with storage: without it the text does not say where the media are");
    check_preserve_work(config.preserve_work, fmt::format("{}.preserve_work", name), problems);
    check.at_least(config.failure_cool_down_tokens, 0, "failure_cool_down_tokens");
    check.error(config.model_options.max_output_tokens != 0, "model_options.max_output_tokens",
                std::to_string(config.model_options.max_output_tokens), "0: summary_size_tokens is the output limit");
    check_summary_generation(summary_generation_config(config, 0), name, problems);
    check.warn(config.on_failure == OnFailure::propagate && chain.on_error == OnError::skip, "on_failure", "propagate",
               "keep_going, or on_error \"propagate\": a chain that skips errors asks again at every call");
    check.at_least(config.rule_based_summary_tokens, 0, "rule_based_summary_tokens");
    check.fraction(config.prepare_at_trigger_fraction, "prepare_at_trigger_fraction");
    check.warn(config.prepare_at_trigger_fraction > 0.0 && !(setup.has_executor && setup.has_summarizer),
               "prepare_at_trigger_fraction", fmt::format("{}", config.prepare_at_trigger_fraction),
               "beside the callback `executor` and a summarizer of its own: else nothing is prepared");
    detail::warn_of_other_summarizers(setup.summarizers_before, "threshold_tokens", check);
}

}  // namespace whittle::inline v0
