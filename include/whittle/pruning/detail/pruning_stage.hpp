#pragma once

#include "whittle/chain/hook_turn.hpp"
#include "whittle/pruning/config.hpp"
#include "whittle/pruning/detail/pruning_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

namespace whittle::inline v0 {

/// What one stage of the ladder planned.
struct StageGain {
    int count = 0;            ///< results pruned, or media taken out
    std::int64_t tokens = 0;  ///< by the transaction's counter
};

namespace detail {

/// Which results pruning may take, and how the report calls that.
struct PruningChoice {
    const std::unordered_set<std::string>* only = nullptr;  ///< by the names of their calls; null: any
    std::string_view rule = "old_output";
    std::int64_t enough = INT64_MAX;  ///< tokens; once so many are free, oldest first, the rest stays
};

/// Plans pruning on the draft's projection: results before index `end`, which the boundary of the configuration limits
/// further. Each result is an edit group. Nothing is planned unless the gain is at least `minimum_gain_tokens`.
StageGain stage_pruning(HookTurn& turn, Draft& edit, const PruningConfig& config, std::size_t end,
                        const PruningChoice& choice = {});
/// After a commit: what the store refused was not cut. `rule`: of candidates that another middleware chose.
void report_refused(HookTurn& turn, const CommitResult& result, std::string_view rule = "old_output");

/// Of the candidate's call, raw JSON.
[[nodiscard]] std::string arguments_of(const Draft& edit, const PruningCandidate& candidate);
/// Whether `protect` wants that result.
[[nodiscard]] bool is_wanted(const HookTurn& turn, const Draft& edit, const PruningConfig& config,
                             const PruningCandidate& candidate);
/// Whether a media part belongs to a result that stays: of a protected tool, pinned, or wanted by `protect`. Media
/// beside a round belong to all of its results.
[[nodiscard]] bool keeps_media(const HookTurn& turn, const Draft& edit, const PruningConfig& config,
                               std::size_t message, std::size_t part);

}  // namespace detail

}  // namespace whittle::inline v0
