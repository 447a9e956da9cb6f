#pragma once

#include "whittle/anthropic/anthropic.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace whittle::inline v0::anthropic::detail {

/// How many `cache_control` marks a message has, also inside its tool results.
[[nodiscard]] std::size_t count_marks(const ordered_json& message);

/// The messages that get a mark, newest first, at most `room`: the last, the end of the stable prefix, the user's
/// message before the last. `stable`: messages that stay; absent: not known.
[[nodiscard]] std::vector<std::size_t> plan_marks(std::span<const Message> messages, std::optional<std::size_t> stable,
                                                  bool is_agents, std::size_t room);

/// Puts `mark` on the last block of the content that can have one. False if none can.
bool put_mark(ordered_json& content, const ordered_json& mark);

}  // namespace whittle::inline v0::anthropic::detail
