#pragma once

#include "whittle/storage/storage.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// What an object is encrypted with.
struct EncryptionKey {
    std::string id{};     ///< 1 to 32 bytes of `[A-Za-z0-9_.-]`; stands in clear in each object
    std::string bytes{};  ///< 32 random bytes: `new_encryption_key`
};

/// Which keys are used.
struct EncryptionOptions {
    /// The key for what is written from now on: another one is a rotation. Called for each object, from any thread.
    std::function<EncryptionKey()> current_key{};
    /// The key of that id, for what was written earlier; nullopt: there is none, and the object cannot be read.
    std::function<std::optional<EncryptionKey>(std::string_view id)> find_key{};
    /// Objects that are not encrypted are read as they are, from before the store was encrypted. Who can write to the
    /// store can then put objects of his own there.
    bool read_unencrypted = false;
};

/// Objects that only who has their key can read, in any store. Thread-safe if the store is.
class EncryptedStorage : public Storage {
public:
    /// How many objects each key has encrypted, by its id; those that are not encrypted are under "". A key that is not
    /// here any more may be destroyed. Reads the first 64 bytes of each object; throws what `list` and `get` of the
    /// store throw.
    [[nodiscard]] virtual std::map<std::string, std::int64_t> keys_in_use(std::string_view prefix = {}) = 0;
};

/// Encrypts what is written to `inner` with XChaCha20-Poly1305 (libsodium), in pieces of 64 KiB, so that a range is
/// read and a stream written without the whole object in memory. Keys of objects, their lengths and the ids of keys
/// stay readable; an object is 64 bytes longer, and 16 for each piece. What was altered, cut, or moved to another key
/// is Error(damaged); a stream above 1 MiB is not bound to its key. Equal content under equal keys gives equal bytes,
/// which keeps writing it again a no-op. `locate` gives the key: no file tool can read an encrypted object. Throws
/// Error(invalid_config) if `inner` or a callback is empty; reading and writing throw Error(not_found) for a key that
/// is not known, Error(callback_failed) for one that cannot be used, and what callbacks throw.
/// extensions/encryption/README.md tells what is not hidden.
[[nodiscard]] std::shared_ptr<EncryptedStorage> encrypted_storage(std::shared_ptr<Storage> inner,
                                                                  EncryptionOptions options);

/// 32 random bytes, from the system.
[[nodiscard]] std::string new_encryption_key();

/// The id of the key that an object is encrypted with, from its first 64 bytes or more; nullopt if it is not encrypted.
/// Needs no key.
[[nodiscard]] std::optional<std::string> encryption_key_id(std::string_view object);

}  // namespace whittle::inline v0
