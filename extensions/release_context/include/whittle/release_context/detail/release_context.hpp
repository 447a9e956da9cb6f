#pragma once

#include "whittle/chain/hook_turn.hpp"
#include "whittle/conversation/tool.hpp"
#include "whittle/release_context/config.hpp"

#include <string>
#include <string_view>
#include <unordered_set>

namespace whittle::inline v0 {

/// The `Candidate::rule` of what the model released.
inline constexpr std::string_view released_rule = "released";

namespace detail {

/// Works out what calls of the tool name, for those that were not looked at yet, and what they are answered.
void look_at_releases(HookTurn& turn, const ReleaseContextConfig& config);
/// The results that may go now, by the names of their calls: all that was released, or what saves more than it costs.
[[nodiscard]] std::unordered_set<std::string> released_results(HookTurn& turn, const ReleaseContextConfig& config,
                                                               bool all);
/// Takes them out of the request, and commits. False: nothing was committed.
bool take_out_released(HookTurn& turn, Draft& edit, const ReleaseContextConfig& config,
                       const std::unordered_set<std::string>& results);

[[nodiscard]] Tool release_context_tool(const ReleaseContextConfig& config, const std::string& stage,
                                        const ChainConfig& chain);

}  // namespace detail

}  // namespace whittle::inline v0
