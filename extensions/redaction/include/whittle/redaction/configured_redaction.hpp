#pragma once

#include "whittle/config/config_json.hpp"
#include "whittle/redaction/redacted_storage.hpp"

#include <memory>
#include <utility>

namespace whittle::inline v0 {

/// What a configuration with "redaction" asks for: for `StorageOpeners::redaction`. Masks by the rules that whittle
/// has; a host that adds its own gives an opener of its own. Throws what `redacted_storage` throws.
[[nodiscard]] inline std::shared_ptr<Storage> open_configured_redaction(std::shared_ptr<Storage> inner,
                                                                        const StorageSettings&) {
    return redacted_storage(std::move(inner));
}

}  // namespace whittle::inline v0
