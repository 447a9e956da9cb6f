#pragma once

#include "whittle/compaction/config.hpp"
#include "whittle/summary/detail/summary_work.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace whittle::inline v0::detail {

/// What one run of compaction works with. A view.
struct CompactionWork {
    HookTurn& turn;
    Draft& edit;  ///< empty, with the counter of the configuration
    const SummaryFunctions& functions;
    const CompactionConfig& config;
    CompactionLimits limits{};
    FoldSizes sizes{};  ///< by that counter; its trigger is the threshold
};

/// The limits as they are now: what an overflow taught bounds an absolute threshold too.
[[nodiscard]] CompactionLimits limits_now(const HookTurn& turn, const CompactionConfig& config);
/// The same for a request of that size, if compaction is due. Fills the report.
[[nodiscard]] std::optional<CompactionLimits> due_limits(HookTurn& turn, const CompactionConfig& config,
                                                         std::int64_t tokens);
/// The threshold is now what the model takes; without a known window, half of the request.
[[nodiscard]] CompactionLimits limits_on_demand(const HookTurn& turn, const CompactionConfig& config,
                                                std::int64_t tokens);
[[nodiscard]] CompactionLimits limits_after_overflow(const HookTurn& turn, const CompactionConfig& config,
                                                     std::int64_t tokens);
/// Stages the draft from cheap to expensive, and commits it. False: nothing was committed. Where it is due, the same is
/// not done twice in vain; `compact_anyway` does it again.
bool compact_when_due(const CompactionWork& work);
bool compact_anyway(const CompactionWork& work);
/// Orders a summary ahead of need. False: nothing is committed.
bool prepare_compaction(const CompactionWork& work);

/// Messages at the front that compaction under that name never touches: the protected prefix, and pins behind it.
[[nodiscard]] std::size_t untouched_by_compaction(const Outline& outline, std::string_view name);

}  // namespace whittle::inline v0::detail
