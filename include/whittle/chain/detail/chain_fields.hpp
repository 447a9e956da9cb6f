#pragma once

#include "whittle/chain/config.hpp"
#include "whittle/fields/config_field.hpp"
#include "whittle/message/validity.hpp"

#include <vector>

namespace whittle::inline v0::detail {

/// What a configuration may say of a chain, with the profiles that it may name.
[[nodiscard]] ConfigFields<ChainConfig> chain_fields(const std::vector<CacheProfile>& caches,
                                                     const std::vector<const ValidityProfile*>& rules);

}  // namespace whittle::inline v0::detail
