#pragma once

#include "whittle/encryption/encryption_key_text.hpp"
#include "whittle/storage/store_type.hpp"

#include <string>

namespace whittle::inline v0 {

/// What a configuration says of encryption.
struct EncryptedStoreConfig {
    /// Encrypt what is stored: the environment variable that holds the keys, each a line of an id, a space and
    /// 64 hexadecimal digits; the last one encrypts new objects. Empty: not encrypted.
    std::string encryption_key_env{};
};

/// The store that encrypts, for `ConfigTypes::register_store_wrapper`. It asks for the keys once. Opening throws
/// Error(invalid_config) if the environment has none, and what `parse_encryption_keys` and `encrypted_storage` throw.
[[nodiscard]] StoreWrapper<EncryptedStoreConfig> encrypted_store_type();

}  // namespace whittle::inline v0
