#pragma once

#include "encryption_keys.hpp"
#include "whittle/storage/storage.hpp"

#include <memory>

namespace whittle::inline v0::encryption {

/// A stream into `inner`. What stays below 1 MiB goes to `whole`, which encrypts it as one object. Null if `inner`
/// cannot stream. All are shared or borrowed from the storage, which `whole` keeps.
[[nodiscard]] std::unique_ptr<StorageWriter> encrypted_writer(std::shared_ptr<Storage> inner,
                                                              std::shared_ptr<const EncryptionKeys> keys,
                                                              std::shared_ptr<Storage> whole);

}  // namespace whittle::inline v0::encryption
