#pragma once

#include "whittle/sealing/sealing_key_text.hpp"
#include "whittle/storage/store_type.hpp"

#include <string>

namespace whittle::inline v0 {

/// What a configuration says of sealing.
struct SealedStoreConfig {
    std::string sealing_key_env{};  ///< name of the environment value that holds the keys; empty: not sealed
};

/// The store that seals, for `ConfigTypes::register_store_around`. It asks for the keys once. Opening throws
/// Error(invalid_config) if the environment has none, and what `parse_sealing_keys` and `sealed_storage` throw.
[[nodiscard]] StoreAround<SealedStoreConfig> sealed_store_type();

}  // namespace whittle::inline v0
