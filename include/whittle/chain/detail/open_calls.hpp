#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/conversation/tool.hpp"
#include "whittle/message/outline.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace whittle::inline v0::detail {

/// The calls of the open round that wait for a result, in order. `like`: what all of them have; `visit_parts` calls its
/// argument for each part of a message.
[[nodiscard]] std::vector<ToolContext> open_calls(
    const Outline& outline, const ToolContext& like,
    FunctionRef<void(std::size_t message, FunctionRef<void(const PartView&)>)> visit_parts);

}  // namespace whittle::inline v0::detail
