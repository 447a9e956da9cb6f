#include "whittle/redaction/redacted_store_type.hpp"

#include "whittle/redaction/redacted_storage.hpp"

#include <memory>
#include <utility>

namespace whittle::inline v0 {

StoreWrapper<RedactedStoreConfig> redacted_store_type() {
    return {.type = "redaction",
            .layer = StoreLayer::masks,
            .fields = {{"redaction", &RedactedStoreConfig::redaction,
                        "mask what looks like a secret before it is stored, by `RedactionRules{}`"}},
            .wrap = [](std::shared_ptr<Storage> inner, const RedactedStoreConfig& config, const ConfigContext&) {
                return config.redaction ? redacted_storage(std::move(inner)) : inner;
            }};
}

}  // namespace whittle::inline v0
