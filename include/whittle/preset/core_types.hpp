#pragma once

#include "whittle/chain/middleware_type.hpp"
#include "whittle/compaction/compaction.hpp"
#include "whittle/preset/presets.hpp"
#include "whittle/pruning/pruning.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/summarization/summarization.hpp"
#include "whittle/token_saving/token_saving.hpp"
#include "whittle/trimming/trimming.hpp"

#include <any>
#include <string>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// Calls `visit(type, maker)` for each middleware of the core, in the order of the documentation.
template <typename Visit>
void visit_core_middlewares(const Visit& visit) {
    visit(reduction_type(), make_reduction);
    visit(trimming_type(), make_trimming);
    visit(summarization_type(), make_summarization);
    visit(token_saving_type(), make_token_saving);
    visit(pruning_type(), make_pruning);
    visit(compaction_type(), make_compaction);
}

/// A type's name, and a configuration of it.
struct TypedConfig {
    std::string type{};
    std::any config{};
};

/// What a preset comes to, as entries of a configuration.
[[nodiscard]] std::vector<TypedConfig> typed_stages(PresetConfig preset, bool has_model);

}  // namespace whittle::inline v0::detail
