#pragma once

#include "replay/replay.hpp"
#include "session_cost.hpp"

#include <nlohmann/json.hpp>

namespace whittle::cli {

/// The figures as `replay --json` shows them; tool/docs/cli.md has the meaning of each. Money only if there are prices.
[[nodiscard]] nlohmann::ordered_json totals_json(const ReplayTotals& totals, const SessionCost& cost,
                                                 const ModelProfile& profile);

}  // namespace whittle::cli
