#include "whittle/preset/presets.hpp"
#include "whittle/preset/core_types.hpp"

#include "whittle/base/detail/saturating.hpp"

#include <algorithm>
#include <array>

namespace whittle::inline v0 {

namespace {

constexpr std::array all_presets{Preset::recommended, Preset::lossless, Preset::local, Preset::cheap};

/// `share` of the window, at most `most`; `most` where the window is unknown.
std::int64_t part_of(std::int64_t window, double share, std::int64_t most) noexcept {
    if (window <= 0) return most;
    return std::clamp<std::int64_t>(to_int64(static_cast<double>(window) * share), 1, most);
}

/// What requests may have: the window less the output reserve; 0: unknown.
struct Room {
    std::int64_t tokens = 0;
    double share = 1.0;  // of the window

    explicit Room(const ModelProfile& profile) noexcept {
        if (profile.context_window <= 0) return;
        tokens = std::max<std::int64_t>(1, sub_saturating(profile.context_window, profile.output_reserve));
        share = static_cast<double>(tokens) / static_cast<double>(profile.context_window);
    }
};

TrimmingConfig trimming_for(const Room& room) {
    const std::int64_t window = room.tokens;
    TrimmingConfig config;
    config.start_tokens = part_of(window, 0.25, config.start_tokens);
    config.force_above_window_fraction = 0.75 * room.share;
    return config;
}

/// One result may take a quarter of the window, at four bytes a token.
ReductionConfig reduction_for(const Room& room) {
    constexpr double target = 0.6;
    ReductionConfig config;
    if (room.tokens > 0) config.max_length_for_trunc = std::max<std::int64_t>(room.tokens, 4'000);
    config.clear_retention_suffix_limit = 3;
    config.clear_target_tokens = part_of(config.max_tokens_for_clear, target, config.max_tokens_for_clear);
    config.max_fraction_for_clear = 0.85 * room.share;
    config.clear_fraction_if_cache_cold = 0.7 * room.share;
    config.clear_target_fraction = target * room.share;
    return config;
}

/// The end of the ladder: what is due here has been trimmed and cleared before.
SummarizationConfig summarization_for(const Room& room) {
    const std::int64_t window = room.tokens;
    SummarizationConfig config;
    config.trigger = {.context_fraction = 0.92 * room.share, .fraction_if_cache_cold = 0.8 * room.share};
    if (window <= 0) config.trigger.context_tokens = SummarizationConfig{}.trigger.context_tokens;
    config.keep_recent_tokens = part_of(window, 0.2, config.keep_recent_tokens);
    config.preserve_user_messages.max_tokens = part_of(window, 0.15, 30'000);
    PreserveSkillsConfig& skills = config.preserve_skills;
    skills.skills_token_budget = part_of(window, 0.1, skills.skills_token_budget);
    skills.max_tokens_per_skill = std::min(skills.max_tokens_per_skill, skills.skills_token_budget);
    config.retained_facts_tokens = part_of(window, 0.02, config.retained_facts_tokens);
    config.offload_folded = true;
    config.retry = RetryConfig{};
    config.rule_based_summary_tokens = part_of(window, 0.1, 4'000);
    return config;
}

/// Whatever leaves a request can be read again from the store, as it was.
void keep_all_readable(PresetConfig& config) {
    config.trimming.trim_arguments = false;
    config.summarization.reset();
}

/// What a server keeps costs little as long as it stays, so that edits wait until they free much. Without a window
/// clearing comes before a summary whose prefix fits one request.
void apply_local(PresetConfig& config, const Room& room) {
    constexpr double target = 0.45;
    config.trimming.force_above_window_fraction = 0.8 * room.share;
    ReductionConfig& reduction = config.reduction;
    reduction.clear_target_fraction = target * room.share;
    SummarizationConfig& summarization = *config.summarization;
    summarization.reuse_prompt_cache = true;
    if (room.tokens > 0) return;
    summarization.trigger.context_tokens = default_summary_input_tokens;
    reduction.max_tokens_for_clear = part_of(default_summary_input_tokens, 0.9, default_summary_input_tokens);
    reduction.clear_target_tokens = part_of(default_summary_input_tokens, target, default_summary_input_tokens);
}

void apply_cheap(PresetConfig& config) {
    config.trimming.unit = TrimUnit::lines;
    config.trimming.min_result_bytes = 240;
}

}  // namespace

std::string_view to_string(Preset preset) noexcept {
    switch (preset) {
        case Preset::recommended: return "recommended";
        case Preset::lossless: return "lossless";
        case Preset::local: return "local";
        case Preset::cheap: return "cheap";
    }
    return "unknown";
}

std::span<const Preset> presets() noexcept { return all_presets; }

std::optional<Preset> find_preset(std::string_view name) noexcept {
    const auto found = std::ranges::find_if(all_presets, [&](Preset preset) { return to_string(preset) == name; });
    return found == all_presets.end() ? std::nullopt : std::optional(*found);
}

std::optional<SummarizationConfig> effective_summarization(const PresetConfig& config, bool has_model) {
    if (has_model || !config.summarization) return config.summarization;
    const bool has_room =
        config.chain.profile.context_window > 0 && config.summarization->rule_based_summary_tokens > 0;
    return has_room ? config.summarization : std::nullopt;
}

PresetConfig preset_config(Preset preset, ModelProfile profile) {
    const Room room(profile);
    if (profile.cache == CacheProfile{})
        profile.cache = *find_cache_profile(preset == Preset::local ? "local" : "anthropic_5m");
    PresetConfig config{
        .trimming = trimming_for(room), .reduction = reduction_for(room), .summarization = summarization_for(room)};
    config.chain.profile = std::move(profile);
    config.chain.storage = memory_storage();
    if (preset == Preset::lossless) keep_all_readable(config);
    if (preset == Preset::local) apply_local(config, room);
    if (preset == Preset::cheap) apply_cheap(config);
    return config;
}

std::vector<detail::TypedConfig> detail::typed_stages(PresetConfig preset, bool has_model) {
    auto last = effective_summarization(preset, has_model);
    std::vector<TypedConfig> stages{{trimming_type().type, std::move(preset.trimming)},
                                    {reduction_type().type, std::move(preset.reduction)}};
    if (last) stages.push_back({summarization_type().type, *std::move(last)});
    return stages;
}

}  // namespace whittle::inline v0
