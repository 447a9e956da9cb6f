#include "evaluation.hpp"

#include <algorithm>
#include <array>

namespace whittle::inline v0::evaluation {
namespace {

CostProfile with_steps_of_one(CostProfile profile) {
    profile.cache.prefix_step_tokens = 1;
    return profile;
}

CacheProfile cache_named(std::string_view name) {
    const CacheProfile* found = find_cache_profile(name);
    return found == nullptr ? CacheProfile{} : *found;
}

}  // namespace

/// The caches of configurations, with what an output token costs at the provider and how clients mark their requests.
std::span<const CostProfile> cost_profiles() noexcept {
    static const std::array<CostProfile, 4> profiles{{
        {.cache = cache_named("anthropic_5m"), .output = 5, .reach = CacheReach::request_ends, .look_back = 20},
        {.cache = cache_named("openai"), .output = 6, .reach = CacheReach::messages},
        with_steps_of_one(
            {.cache = cache_named("openai_2026"), .output = 6, .reach = CacheReach::request_ends, .look_back = 80}),
        {.cache = cache_named("no_cache"), .output = 5, .reach = CacheReach::messages},
    }};
    return profiles;
}

const CostProfile* find_cost_profile(std::string_view name) noexcept {
    const auto all = cost_profiles();
    const auto found = std::ranges::find_if(all, [&](const CostProfile& p) { return p.cache.name == name; });
    return found == all.end() ? nullptr : &*found;
}

}  // namespace whittle::inline v0::evaluation
