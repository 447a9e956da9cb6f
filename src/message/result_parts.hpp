#pragma once

#include "whittle/message/outline.hpp"

#include <cstddef>
#include <vector>

namespace whittle::inline v0::detail {

/// The parts of each tool result that a message holds, media included: by call, in order of their first parts.
[[nodiscard]] std::vector<std::vector<std::size_t>> result_parts(const MessageInfo& info);

}  // namespace whittle::inline v0::detail
