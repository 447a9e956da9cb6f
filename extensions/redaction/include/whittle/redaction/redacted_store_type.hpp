#pragma once

#include "whittle/storage/store_type.hpp"

namespace whittle::inline v0 {

/// What a configuration says of masking.
struct RedactedStoreConfig {
    bool redaction = false;  ///< mask what looks like a secret before it is stored, by `RedactionRules{}`
};

/// The store that masks, for `ConfigTypes::register_store_wrapper`. Masks by the rules that whittle has; a host that
/// adds its own registers a type of its own. Opening throws what `redacted_storage` throws.
[[nodiscard]] StoreWrapper<RedactedStoreConfig> redacted_store_type();

}  // namespace whittle::inline v0
