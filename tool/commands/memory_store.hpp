#pragma once

#include "whittle/config/config_json.hpp"

namespace whittle::cli {

/// Everything that a configuration stores goes to one store in memory, under the names that the objects would have in
/// the configured one: a command that only shows leaves nothing behind. Without a store nothing is recoverable, as it
/// would be for the agent.
[[nodiscard]] ChainSettings with_memory_storage(ChainSettings settings);

}  // namespace whittle::cli
