#pragma once

#include <functional>
#include <vector>

namespace whittle::cli {

/// Runs each of the parts once, beside each other, on as many threads as there are processors; the first ones start
/// first. Returns when all ended. If parts throw, throws what the first of them threw.
void run_in_parallel(const std::vector<std::function<void()>>& parts);

}  // namespace whittle::cli
