#pragma once

namespace whittle::inline v0::detail {

/// Which type, also where run-time type information is switched off. Shared libraries with hidden symbols have their
/// own.
using TypeId = const void*;

template <typename T>
inline char type_tag = 0;  // not const: linkers may merge equal constants

template <typename T>
[[nodiscard]] TypeId type_id() noexcept {
    return &type_tag<T>;
}

}  // namespace whittle::inline v0::detail
