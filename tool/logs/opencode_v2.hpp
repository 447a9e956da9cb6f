#pragma once

#include "readers.hpp"

#include <cstddef>

namespace whittle::inline v0::logs {

/// Whether messages are rows of opencode's table `session_message`, whose type stands beside what they hold: version 2
/// writes those in place of messages with parts.
[[nodiscard]] bool is_opencode_v2(const nlohmann::ordered_json& messages);

/// Reads a session: `info` as version 1 has it, and rows of `session_message` in their order.
void read_opencode_v2(const nlohmann::ordered_json& info, const nlohmann::ordered_json& messages, std::size_t line,
                      const LogOptions& options, LogNotes& notes, VisitSession visit);

}  // namespace whittle::inline v0::logs
