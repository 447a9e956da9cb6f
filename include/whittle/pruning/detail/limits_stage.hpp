#pragma once

#include "whittle/chain/middleware.hpp"
#include "whittle/message/detail/request_size.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/message/validity.hpp"
#include "whittle/pruning/config.hpp"
#include "whittle/pruning/detail/pruning_stage.hpp"

#include <memory>
#include <string>
#include <utility>

namespace whittle::inline v0::detail {

/// Whether the provider would refuse it for that. O(parts).
[[nodiscard]] bool is_over_limits(const Outline& outline, const RequestLimits& limits) noexcept;

/// Plans, where it is over the limits of the profile, what brings it below them: images that are too large by
/// themselves, then media, oldest first, down to three quarters of what is exceeded; then, for bytes, results
/// of tools. Pins, protections and the newest round stay. Each message is an edit group.
StageGain stage_limits(HookTurn& turn, Draft& edit, const PruningConfig& config);

/// Tells once that what has to stay is over the limits.
void report_limits(HookTurn& turn, const RequestLimits& limits);

/// Commits `stage_limits` and adds it to the report of what the hook has done before. `edit` is empty. What fails
/// leaves that as it is; it is thrown under OnError::propagate, as is what ends the hook.
void commit_limits(HookTurn& turn, Draft& edit, const PruningConfig& config);

/// A second commit of the hook, where the request is over the limits of the profile; none in a hook whose first commit
/// the host has refused.
template <AgentMessage M>
void fit_image_and_byte_limits(Turn<M>& turn, const std::shared_ptr<const TokenCounter>& counter,
                               const PruningConfig& config = {}) {
    if (turn.report.outcome == Outcome::vetoed) return;
    if (!is_over_limits(turn.conversation.outline(), turn.config.profile.validity.limits)) return;
    EditEnvironment environment = turn.environment();
    environment.counter = counter;
    Transaction<M> edit = turn.conversation.edit(std::string(turn.report.middleware), std::move(environment));
    commit_limits(turn, edit, config);
}

}  // namespace whittle::inline v0::detail
