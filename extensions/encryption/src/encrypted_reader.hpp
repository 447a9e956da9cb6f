#pragma once

#include "encryption_keys.hpp"
#include "object_cipher.hpp"
#include "whittle/storage/storage.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0::encryption {

/// Reads one encrypted object piece by piece.
class EncryptedReader {
public:
    /// Nullopt if there is no such object. Throws Error(damaged) if it is not encrypted, and as
    /// `EncryptionKeys::to_read`.
    [[nodiscard]] static std::optional<EncryptedReader> open(Storage& inner, const EncryptionKeys& keys,
                                                             std::string_view key);

    /// At most `max_bytes` from `offset`; nullopt if the object is gone meanwhile. Throws Error(damaged).
    [[nodiscard]] std::optional<std::string> read(std::int64_t offset, std::int64_t max_bytes) const;
    /// Of all that it holds; nullopt if the object is gone meanwhile. Holds one piece at a time. Throws Error(damaged).
    [[nodiscard]] std::optional<std::string> print() const;

private:
    EncryptedReader(Storage& inner, std::string_view key) : inner_(&inner), key_(key) {}
    [[nodiscard]] std::optional<std::string> piece(std::int64_t number) const;

    Storage* inner_;
    std::string key_;
    std::string start_{};  ///< header and first piece, as stored
    std::int64_t content_ = 0;
    std::unique_ptr<ObjectCipher> cipher_{};
};

}  // namespace whittle::inline v0::encryption
