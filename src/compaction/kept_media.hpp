#pragma once

#include "whittle/chain/hook_turn.hpp"
#include "whittle/compaction/config.hpp"
#include "whittle/compaction/detail/pruning_plan.hpp"

#include <cstddef>
#include <string>

namespace whittle::inline v0::detail {

/// Of the candidate's call, raw JSON.
[[nodiscard]] std::string arguments_of(const Draft& edit, const PruningCandidate& candidate);
/// Whether `protect` wants that result.
[[nodiscard]] bool is_wanted(const Draft& edit, const PruningConfig& config, const PruningCandidate& candidate);
/// Whether a media part belongs to a result that stays: of a protected tool, pinned, or wanted by `protect`. Media
/// beside a round belong to all of its results.
[[nodiscard]] bool keeps_media(const HookTurn& turn, const Draft& edit, const PruningConfig& config,
                               std::size_t message, std::size_t part);

}  // namespace whittle::inline v0::detail
