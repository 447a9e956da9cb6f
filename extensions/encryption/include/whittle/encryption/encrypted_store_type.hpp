#pragma once

#include "whittle/encryption/encryption_key_text.hpp"
#include "whittle/storage/store_type.hpp"

#include <string>

namespace whittle::inline v0 {

/// What a configuration says of encryption.
struct EncryptedStoreConfig {
    std::string encryption_key_env{};  ///< name of the environment value that holds the keys; empty: not encrypted
};

/// The store that encrypts, for `ConfigTypes::register_store_around`. It asks for the keys once. Opening throws
/// Error(invalid_config) if the environment has none, and what `parse_encryption_keys` and `encrypted_storage` throw.
[[nodiscard]] StoreAround<EncryptedStoreConfig> encrypted_store_type();

}  // namespace whittle::inline v0
