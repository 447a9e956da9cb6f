#pragma once

#include "whittle/storage/storage.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// A storage that keeps other content than it is given where that holds secrets. What compares, lets go of or shows
/// what it has stored asks for it with `masking_in`.
class MaskingStorage : public Storage {
public:
    /// What is kept in place of `content`; nullopt: it is kept as it is.
    [[nodiscard]] virtual std::optional<std::string> masked(std::string_view content) const = 0;
    /// In how many places the object was masked; 0 if there is no such object.
    [[nodiscard]] virtual std::int64_t masked_places(std::string_view key) = 0;
    /// As `put_if_absent`, for content whose texts are masked already, or that has none: a hash in it stays true.
    virtual void put_as_it_is(std::string_view key, std::string_view content) = 0;
};

/// `storage` if it masks what it is given, else null.
[[nodiscard]] inline MaskingStorage* masking_in(Storage& storage) noexcept {
    return dynamic_cast<MaskingStorage*>(&storage);
}

/// Stores `content` as it is, whatever the storage masks.
inline void put_as_it_is(Storage& storage, std::string_view key, std::string_view content) {
    if (MaskingStorage* const masks = masking_in(storage)) return masks->put_as_it_is(key, content);
    storage.put_if_absent(key, content);
}

}  // namespace whittle::inline v0::detail
