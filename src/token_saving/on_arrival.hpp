#pragma once

#include "stats_board.hpp"
#include "whittle/conversation/tool.hpp"
#include "whittle/token_saving/config.hpp"

#include <string_view>

namespace whittle::inline v0::detail {

/// Runs a tool and passes its result on, texts over the threshold cut to head and tail. A result that shows a stored
/// text of this conversation again passes whole, as does one that cannot be stored. The result is held until the tool
/// is done. Throws only what the tool throws, after what came before has been passed on. Thread-safe.
ToolOutcome run_shortened(const TokenSavingConfig& config, std::string_view by, StatsBoard& stats,
                          const ToolContext& context, PartSink& out, const ToolNext& next);

}  // namespace whittle::inline v0::detail
