#pragma once

#include "whittle/base/names.hpp"
#include "whittle/chain/turn.hpp"
#include "whittle/compaction/pruning_config.hpp"
#include "whittle/compaction/pruning_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

namespace whittle::inline v0::detail {

/// Of the candidate's call, raw JSON.
template <AgentMessage M>
[[nodiscard]] std::string arguments_of(const Transaction<M>& edit, const PruningCandidate& candidate) {
    return candidate.call_part ? edit.text_of_part(candidate.call, *candidate.call_part) : std::string();
}

/// Whether `protect` wants that result.
template <AgentMessage M>
[[nodiscard]] bool is_wanted(const Transaction<M>& edit, const PruningConfig& config,
                             const PruningCandidate& candidate) {
    if (!config.protect) return false;
    const std::string arguments = arguments_of(edit, candidate);
    const Mark mark = mark_of(edit.outline()[candidate.message], candidate.part);
    return config.protect({candidate.tool, arguments, candidate.bytes, candidate.is_error, mark.get()});
}

/// Whether a media part belongs to a result that stays: of a protected tool, pinned, or wanted by `protect`. Media
/// beside a round belong to all of its results.
template <AgentMessage M>
[[nodiscard]] bool keeps_media(const Turn<M>& turn, const Transaction<M>& edit, const PruningConfig& config,
                               std::size_t message, std::size_t part) {
    return std::ranges::any_of(results_of_media(edit.outline(), message, part), [&](const PruningCandidate& result) {
        return edit.is_pinned(result.message) || matches_tool(turn.config.protected_tools, result.tool) ||
               matches_tool(config.protected_tools, result.tool) || is_wanted(edit, config, result);
    });
}

}  // namespace whittle::inline v0::detail
