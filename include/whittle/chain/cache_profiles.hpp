#pragma once

#include "whittle/chain/config.hpp"

#include <span>
#include <string_view>

namespace whittle::inline v0 {

/// The cache profiles that configurations can name:
///
/// | name           | read | write | lifetime | minimum | step |
/// |----------------|------|-------|----------|---------|------|
/// | `anthropic_5m` | 0.1  | 1.25  | 300 s    | 1,024   | 1    |
/// | `openai`       | 0.1  | 1     | 600 s    | 1,024   | 128  |
/// | `openai_2026`  | 0.1  | 1.25  | 1,800 s  | 1,024   | 128  |
/// | `no_cache`     | 1    | 1     | none     |         |      |
///
/// Entered 2026-11-21 from the cost model that the replay figures are defined by, which names the providers' pages
/// "Prompt caching" (Anthropic: cache writes for five minutes; OpenAI: automatic caching, in 2026 with a price for
/// writing) as its sources. Providers change them: a configuration can give numbers of its own.
[[nodiscard]] std::span<const CacheProfile> cache_profiles() noexcept;

/// The profile of that name, or null.
[[nodiscard]] const CacheProfile* find_cache_profile(std::string_view name) noexcept;

}  // namespace whittle::inline v0
