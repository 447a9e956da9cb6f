#pragma once

#include "whittle/chain/hook_turn.hpp"
#include "whittle/compaction/config.hpp"
#include "whittle/summary/detail/outcome.hpp"
#include "whittle/tokens/detail/usage_fit.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace whittle::inline v0::detail {

/// What one hook has to come to.
struct CompactionSizes {
    CompactionLimits limits{};
    std::int64_t tokens = 0;  ///< of the whole request, as the threshold judges it
    ContextCount counted{};   ///< of the same, by the counter
};

/// What one run of compaction works with. A view.
struct CompactionWork {
    HookTurn& turn;
    Draft& edit;  ///< empty, with the counter of the configuration
    const CompactionConfig& config;
    CompactionSizes sizes;
    bool has_model = false;  ///< without one `digest` is not called
    CarryOutDigest digest;   ///< of the draft's messages
};

/// The limits of a request of that size, if compaction is due. Fills the report.
[[nodiscard]] std::optional<CompactionLimits> due_limits(HookTurn& turn, const CompactionConfig& config,
                                                         std::int64_t tokens);
/// The threshold is now what the model takes; without a known window, half of the request.
[[nodiscard]] CompactionLimits limits_on_demand(const HookTurn& turn, const CompactionConfig& config,
                                                std::int64_t tokens);
[[nodiscard]] CompactionLimits limits_after_overflow(const HookTurn& turn, const CompactionConfig& config,
                                                     std::int64_t tokens);
/// Stages the draft from cheap to dear, and commits it. False: nothing was committed. `is_forced`: also where the same
/// did nothing before.
bool compact(const CompactionWork& work, bool is_forced);

/// Messages at the front that compaction under that name never touches: the protected prefix, and pins behind it.
[[nodiscard]] std::size_t untouched_by_compaction(const Outline& outline, std::string_view name);

}  // namespace whittle::inline v0::detail
