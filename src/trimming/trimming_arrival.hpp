#pragma once

#include "trimming_state.hpp"
#include "whittle/conversation/tool.hpp"

#include <string_view>

namespace whittle::inline v0::detail {

/// Runs a tool and takes out of its result what the model has before it already: docs/trimming.md says what.
/// `state`: of the conversation; null: nothing is known of it.
ToolOutcome run_trimmed(const TrimmingConfig& config, std::string_view by, TrimmingState* state,
                        const ToolContext& context, PartSink& out, const ToolNext& next);

}  // namespace whittle::inline v0::detail
