#pragma once

#include "sealed_format.hpp"
#include "whittle/sealing/sealed_storage.hpp"

#include <string_view>

namespace whittle::inline v0::sealing {

/// The keys that a host gives, checked.
class SealingKeys {
public:
    /// Throws Error(invalid_config) for an empty callback.
    explicit SealingKeys(SealingOptions options);

    [[nodiscard]] bool read_unsealed() const noexcept { return options_.read_unsealed; }

    /// Throws Error(callback_failed) for a key that cannot be used.
    [[nodiscard]] SealingKey to_write() const;
    /// Throws Error(not_found) too; `attempted` and `key` name what was to be read.
    [[nodiscard]] SealingKey to_read(const SealedHeader& header, std::string_view attempted,
                                     std::string_view key) const;

private:
    SealingOptions options_;
};

}  // namespace whittle::inline v0::sealing
