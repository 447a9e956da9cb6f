#pragma once

#include "whittle/fields/config_field.hpp"
#include "whittle/pruning/config.hpp"

namespace whittle::inline v0::detail {

/// Without its storage: what `Compaction` has of it, too.
[[nodiscard]] ConfigFields<PruningConfig> pruning_fields();

}  // namespace whittle::inline v0::detail
