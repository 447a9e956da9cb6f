#include "whittle/chain/middleware_type.hpp"
#include "whittle/reduction/config.hpp"

namespace whittle::inline v0 {

namespace {

ConfigFields<ToolReductionConfig> tool_fields() {
    using C = ToolReductionConfig;
    return {
        {.name = "backend",
         .member = &C::backend,
         .meaning = "own storage for this tool's results; keys as in `storage`",
         .documented_default = "inherited"},
        {.name = "skip_truncation",
         .member = &C::skip_truncation,
         .meaning = "wins for this tool over the middleware's own setting",
         .documented_default = "inherited"},
        {.name = "skip_clear",
         .member = &C::skip_clear,
         .meaning = "wins for this tool over the middleware's own setting",
         .documented_default = "inherited"},
        {.name = "max_length_for_trunc",
         .member = &C::max_length_for_trunc,
         .meaning = "bytes of text that one result of this tool keeps",
         .lowest = 1,
         .documented_default = "inherited"},
    };
}

ConfigFields<ReductionConfig> reduction_fields() {
    using C = ReductionConfig;
    return {
        own_storage_field(&C::backend, "backend"),
        {"skip_truncation", &C::skip_truncation, "do not shorten results when they return"},
        {"skip_clear", &C::skip_clear, "do not clear old tool rounds"},
        {"fit_image_and_byte_limits", &C::fit_image_and_byte_limits,
         "keep requests within a provider's limits of images and bytes"},
        {"read_file_tool_name", &C::read_file_tool_name,
         "name of the reading tool that notices mention, if the request lists it"},
        {.name = "root_dir",
         .member = &C::root_dir,
         .meaning = "prefix of the keys of stored objects",
         .documented_default = "the conversation's id"},
        {"max_length_for_trunc", &C::max_length_for_trunc, "bytes of text that one result keeps", 1},
        {"max_tokens_for_trunc", &C::max_tokens_for_trunc,
         "tokens that one result keeps, beside that limit in bytes; 0: off"},
        {"trunc_head_lines", &C::trunc_head_lines,
         "first lines of a truncated text, in half of the limit; 0: all of that half"},
        {"trunc_tail_lines", &C::trunc_tail_lines,
         "last lines of a truncated text, in the other half; 0: all of that half"},
        {"trunc_exclude_tools", &C::trunc_exclude_tools, "tools whose results are never truncated"},
        {"max_tokens_for_clear", &C::max_tokens_for_clear, "clearing is due above this many tokens", 1},
        {"max_fraction_for_clear", &C::max_fraction_for_clear,
         "instead: above this part of the model's window, once it is known; 0: off", 0, 1},
        {"clear_fraction_if_cache_cold", &C::clear_fraction_if_cache_cold,
         "due above this part where it breaks no prompt cache: after a pause, or behind a commit of `trimming`; 0: off",
         0, 1},
        {"clear_tool_inputs", &C::clear_tool_inputs,
         "clear the arguments of cleared calls too: of all tools, or of these"},
        {"keep_failed", &C::keep_failed, "do not clear results of failed calls"},
        {"clear_failed_inputs", &C::clear_failed_inputs,
         "clear the arguments of failed calls too, once their rounds are old"},
        {.name = "clear_thinking_keep_turns",
         .member = &C::clear_thinking_keep_turns,
         .meaning = "newest replies that think whose thinking stays when clearing is due",
         .documented_default = "all"},
        {"clear_thinking_keep_tokens", &C::clear_thinking_keep_tokens,
         "tokens of newest thinking kept when clearing is due; 0: no limit"},
        {"clear_retention_suffix_limit", &C::clear_retention_suffix_limit, "newest tool rounds kept; 0 is 1"},
        {"clear_at_least_tokens", &C::clear_at_least_tokens, "clear nothing unless this much gets free"},
        {"clear_exclude_tools", &C::clear_exclude_tools, "tools whose results are never cleared"},
        {"clear_target_tokens", &C::clear_target_tokens,
         "clear oldest first, until below this; 0: all that may be cleared"},
        {"clear_target_fraction", &C::clear_target_fraction,
         "instead: down to this part of the model's window, once it is known; 0: off", 0, 1},
        {"max_bytes_without_store", &C::max_bytes_without_store,
         "bytes kept if nothing can be stored; 0: 8 x `max_length_for_trunc`"},
        {"max_buffered_bytes_for_store", &C::max_buffered_bytes_for_store,
         "bytes of a written result held for a store that cannot stream; a longer one cannot be stored"},
        {"tool_config", map_member(&C::tool_config, tool_fields(), "TOOL"), "settings by tool name"},
    };
}

/// An entry that changes a preset's stage means the tokens that it gives, not the parts of the window that the preset
/// has.
void drop_preset_fractions(ReductionConfig& config, const ConfigEntry& entry) {
    if (entry.gives("max_tokens_for_clear")) {
        if (!entry.gives("max_fraction_for_clear")) config.max_fraction_for_clear = 0.0;
        if (!entry.gives("clear_fraction_if_cache_cold")) config.clear_fraction_if_cache_cold = 0.0;
    }
    if (entry.gives("clear_target_tokens") && !entry.gives("clear_target_fraction")) config.clear_target_fraction = 0.0;
}

}  // namespace

MiddlewareType<ReductionConfig> reduction_type() {
    return {.type = "reduction",
            .fields = reduction_fields(),
            .check = [](const ReductionConfig& config, const ChainInfo& chain, std::string_view,
                        Problems& problems) { check_reduction(config, chain, "", problems); },
            .after_fields_read = drop_preset_fractions};
}

}  // namespace whittle::inline v0
