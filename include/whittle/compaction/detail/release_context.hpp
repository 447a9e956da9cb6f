#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/chain/hook_turn.hpp"
#include "whittle/compaction/config.hpp"
#include "whittle/conversation/tool.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// The `Candidate::rule` of what the model released.
inline constexpr std::string_view released_rule = "released";

namespace detail {

/// Makes a draft of the conversation and gives it to a function.
using WithReleaseDraft = FunctionRef<void(FunctionRef<void(Draft&)>)>;

/// Works out what calls of the tool name, for those that were not looked at yet, and what they are answered.
void look_at_releases(HookTurn& turn, const ReleaseContextConfig& config);
/// Takes out of the request what was released: all of it, or what saves more than it costs. False: nothing.
bool take_out_released(HookTurn& turn, const ReleaseContextConfig& config, bool all, WithReleaseDraft with_draft);

[[nodiscard]] Tool release_context_tool(const ReleaseContextConfig& config, const std::string& stage,
                                        const ChainConfig& chain);

}  // namespace detail

}  // namespace whittle::inline v0
