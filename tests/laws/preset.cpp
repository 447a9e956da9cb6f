// The presets, for a window so small that every stage of the ladder works, held to every law on every message type.
#include "laws/summarizer.hpp"
#include "support/laws.hpp"
#include "whittle/preset/presets.hpp"

using namespace whittle;
using namespace whittle::testing;

namespace {

constexpr std::int64_t small_window = 600;

template <typename T>
auto stages_of_preset(T, Preset preset) {
    using M = MessageOf<T>;
    PresetConfig config = preset_config(preset, {.context_window = small_window});
    config.trimming.min_result_bytes = config.trimming.min_argument_bytes = 20;
    return preset_stages<M>(config, summarizer<M>());
}

}  // namespace

// Plans follow words, not sizes alone: no L11. What a summary folds, it carries otherwise (skills): no protected tools.
WHITTLE_LAWS("the preset recommended", [](auto type) { return stages_of_preset(type, Preset::recommended); },
             {.keeps_protected_tools = false, .context_window = small_window, .looks_at_sizes_only = false})
WHITTLE_LAWS("the preset lossless", [](auto type) { return stages_of_preset(type, Preset::lossless); },
             {.context_window = small_window, .looks_at_sizes_only = false})
WHITTLE_LAWS("the preset local", [](auto type) { return stages_of_preset(type, Preset::local); },
             {.keeps_protected_tools = false, .context_window = small_window, .looks_at_sizes_only = false})
WHITTLE_LAWS("the preset cheap", [](auto type) { return stages_of_preset(type, Preset::cheap); },
             {.keeps_protected_tools = false, .context_window = small_window, .looks_at_sizes_only = false})
