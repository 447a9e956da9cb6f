#pragma once

#include "whittle/base/random.hpp"

#include <chrono>

namespace whittle::inline v0 {

/// The pause after attempt `attempt` (from 1): 1 s x 2^(attempt - 1), at most 10 s, plus a random part of up to half of
/// it. 0 and below: 1 s; from 8 on: 10 s plus up to 5 s.
[[nodiscard]] std::chrono::milliseconds default_backoff(int attempt, Random& random);

}  // namespace whittle::inline v0
