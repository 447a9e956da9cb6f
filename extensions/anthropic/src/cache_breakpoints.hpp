#pragma once

#include "whittle/anthropic/anthropic.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace whittle::inline v0::anthropic::detail {

/// How many `cache_control` breakpoints a message has, also inside its tool results.
[[nodiscard]] std::size_t count_breakpoints(const ordered_json& message);

/// The messages that get a breakpoint, newest first, at most `room`: the last, the end of the stable prefix, the user's
/// message before the last. `stable`: messages that stay; absent: not known.
[[nodiscard]] std::vector<std::size_t> plan_breakpoints(std::span<const Message> messages,
                                                        std::optional<std::size_t> stable, bool is_agents,
                                                        std::size_t room);

/// Puts `breakpoint` on the last block of the content that can have one. False if none can.
bool set_breakpoint(ordered_json& content, const ordered_json& breakpoint);

}  // namespace whittle::inline v0::anthropic::detail
