#pragma once

#include "whittle/base/version.hpp"

#include <string_view>

namespace whittle::inline v0::detail {

/// `[A-Z_][A-Z0-9_]*`. Narrower than what a shell takes: a key that was written where a name belongs must not pass for
/// one, since names are told in errors.
[[nodiscard]] constexpr bool is_variable_name(std::string_view name) noexcept {
    constexpr std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return !name.empty() && (name[0] < '0' || name[0] > '9') &&
           name.find_first_not_of(allowed) == std::string_view::npos;
}

}  // namespace whittle::inline v0::detail
