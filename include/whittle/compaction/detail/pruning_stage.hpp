#pragma once

#include "whittle/chain/hook_turn.hpp"
#include "whittle/compaction/config.hpp"
#include "whittle/compaction/detail/stage_gain.hpp"

#include <cstddef>

namespace whittle::inline v0::detail {

/// Plans pruning on the draft's projection: results before index `end`, which the boundary of the configuration limits
/// further. Each result is a unit. Nothing is planned unless the gain is at least `minimum_gain_tokens`.
StageGain stage_pruning(HookTurn& turn, Draft& edit, const PruningConfig& config, std::size_t end);
/// After a commit: what the store refused was not cut.
void report_refused(HookTurn& turn, const CommitResult& result);

}  // namespace whittle::inline v0::detail
