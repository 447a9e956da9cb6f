#include "kept_media.hpp"

#include "whittle/base/detail/names.hpp"

#include <algorithm>

namespace whittle::inline v0::detail {

std::string arguments_of(const Draft& edit, const PruningCandidate& candidate) {
    return candidate.call_part ? edit.text_of_part(candidate.call, *candidate.call_part) : std::string();
}

bool is_wanted(const Draft& edit, const PruningConfig& config, const PruningCandidate& candidate) {
    if (!config.protect) return false;
    const std::string arguments = arguments_of(edit, candidate);
    const Mark mark = mark_of(edit.outline()[candidate.message], candidate.part);
    return config.protect({candidate.tool, arguments, candidate.bytes, candidate.is_error, mark.get()});
}

bool keeps_media(const HookTurn& turn, const Draft& edit, const PruningConfig& config, std::size_t message,
                 std::size_t part) {
    return std::ranges::any_of(results_of_media(edit.outline(), message, part), [&](const PruningCandidate& result) {
        return edit.is_pinned(result.message) || matches_tool(turn.config.protected_tools, result.tool) ||
               matches_tool(config.protected_tools, result.tool) || is_wanted(edit, config, result);
    });
}

}  // namespace whittle::inline v0::detail
