#pragma once

#include "whittle/replay/replay.hpp"

#include <nlohmann/json.hpp>

namespace whittle::cli {

/// The figures as `replay --json` shows them; docs/cli.md has the meaning of each. Money only if there are prices.
[[nodiscard]] nlohmann::ordered_json totals_json(const ReplayTotals& totals, const ModelProfile& profile);

}  // namespace whittle::cli
