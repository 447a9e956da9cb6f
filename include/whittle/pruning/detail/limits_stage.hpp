#pragma once

#include "whittle/chain/middleware.hpp"
#include "whittle/message/detail/request_size.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/message/validity.hpp"
#include "whittle/pruning/config.hpp"
#include "whittle/pruning/detail/pruning_stage.hpp"

namespace whittle::inline v0::detail {

/// Whether the provider would refuse it for that. O(parts).
[[nodiscard]] bool is_over_limits(const Outline& outline, const RequestLimits& limits) noexcept;

/// Plans, where it is over the limits of the profile, what brings it below them: images that are too large by
/// themselves, then media, oldest first, down to `limits_target_fraction` of what is exceeded; then, for bytes, results
/// of tools. Pins, protections and the newest round stay. Each message is a unit.
StageGain stage_limits(HookTurn& turn, Draft& edit, const PruningConfig& config);

/// Tells once that what has to stay is over the limits.
void report_limits(HookTurn& turn, const RequestLimits& limits);

/// Commits `stage_limits`, after whatever else the hook has done. `edit` is empty.
void commit_limits(HookTurn& turn, Draft& edit, const PruningConfig& config);

/// The same for a middleware that is not about media.
template <AgentMessage M>
void fit_limits(Turn<M>& turn, const PruningConfig& config = {}) {
    if (!is_over_limits(turn.conversation.outline(), turn.config.profile.validity.limits)) return;
    Transaction<M> edit = turn.edit();
    commit_limits(turn, edit, config);
}

}  // namespace whittle::inline v0::detail
