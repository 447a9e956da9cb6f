#include "whittle/chain/config.hpp"

#include <algorithm>
#include <array>

namespace whittle::inline v0 {

std::span<const CacheProfile> cache_profiles() noexcept {
    static const std::array<CacheProfile, 4> profiles{{
        {.name = "anthropic_5m", .read = 0.1, .write = 1.25, .ttl_seconds = 300, .minimum = 1'024},
        {.name = "openai", .read = 0.1, .write = 1.0, .ttl_seconds = 600, .minimum = 1'024, .step = 128},
        {.name = "openai_2026", .read = 0.1, .write = 1.25, .ttl_seconds = 1'800, .minimum = 1'024, .step = 128},
        {.name = "no_cache"},
    }};
    return profiles;
}

const CacheProfile* find_cache_profile(std::string_view name) noexcept {
    const auto all = cache_profiles();
    const auto found = std::ranges::find(all, name, &CacheProfile::name);
    return found == all.end() ? nullptr : &*found;
}

}  // namespace whittle::inline v0
