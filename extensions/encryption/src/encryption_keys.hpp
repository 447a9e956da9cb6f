#pragma once

#include "encrypted_format.hpp"
#include "whittle/encryption/encrypted_storage.hpp"

#include <string_view>

namespace whittle::inline v0::encryption {

/// The keys that a host gives, checked.
class EncryptionKeys {
public:
    /// Throws Error(invalid_config) for an empty callback.
    explicit EncryptionKeys(EncryptionOptions options);

    [[nodiscard]] bool read_unencrypted() const noexcept { return options_.read_unencrypted; }

    /// Throws Error(callback_failed) for a key that cannot be used.
    [[nodiscard]] EncryptionKey to_write() const;
    /// Throws Error(not_found) too; `operation` and `key` name what was to be read.
    [[nodiscard]] EncryptionKey to_read(const EncryptedHeader& header, std::string_view operation,
                                        std::string_view key) const;

private:
    EncryptionOptions options_;
};

}  // namespace whittle::inline v0::encryption
