#pragma once

#include "logs/logs.hpp"

namespace whittle::inline v0::logs {

/// Reads a session of opencode as `read_log` does, from what is parsed already. Throws what `visit` throws.
[[nodiscard]] LogNotes read_opencode_session(const nlohmann::ordered_json& document, const LogOptions& options,
                                             FunctionRef<void(Session&&)> visit);

}  // namespace whittle::inline v0::logs
