#pragma once

#include "sealing_cipher.hpp"
#include "sealing_keys.hpp"
#include "whittle/storage/storage.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0::sealing {

/// Reads one sealed object piece by piece.
class SealedReader {
public:
    /// Nullopt if there is no such object. Throws Error(damaged) if it is not sealed, and as `SealingKeys::to_read`.
    [[nodiscard]] static std::optional<SealedReader> open(Storage& inner, const SealingKeys& keys,
                                                          std::string_view key);

    /// At most `max_bytes` from `offset`; nullopt if the object is gone meanwhile. Throws Error(damaged).
    [[nodiscard]] std::optional<std::string> read(std::int64_t offset, std::int64_t max_bytes) const;
    /// Of all that it holds; nullopt if the object is gone meanwhile. Holds one piece at a time. Throws Error(damaged).
    [[nodiscard]] std::optional<std::string> print() const;

private:
    SealedReader(Storage& inner, std::string_view key) : inner_(&inner), key_(key) {}
    [[nodiscard]] std::optional<std::string> piece(std::int64_t number) const;

    Storage* inner_;
    std::string key_;
    std::string start_{};  ///< header and first piece, as stored
    std::int64_t content_ = 0;
    std::unique_ptr<SealingCipher> cipher_{};
};

}  // namespace whittle::inline v0::sealing
