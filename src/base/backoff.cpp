#include "whittle/base/detail/backoff.hpp"

#include <algorithm>
#include <cstdint>

namespace whittle::inline v0 {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t first_pause = 1'000;
constexpr std::int64_t longest_pause = 10'000;
constexpr int attempts_until_longest = 8;

}  // namespace

milliseconds default_backoff(int attempt, Random& random) {
    if (attempt <= 0) return milliseconds(first_pause);
    const std::int64_t doubled = first_pause << (std::min(attempt, attempts_until_longest) - 1);
    const std::int64_t pause = std::min(doubled, longest_pause);
    return milliseconds(pause + static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(pause / 2)));
}

}  // namespace whittle::inline v0
