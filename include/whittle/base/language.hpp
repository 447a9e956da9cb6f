#pragma once

#include "whittle/base/version.hpp"

#include <string_view>

namespace whittle::inline v0 {

/// The language of notices and placeholders.
enum class Language { english, chinese };

/// Sets the default that chains take when their configuration names no language. Thread-safe; the library's only
/// mutable global.
void set_language(Language language) noexcept;
/// What `set_language` set last; English before. Thread-safe.
[[nodiscard]] Language default_language() noexcept;

/// "en" or "zh".
[[nodiscard]] std::string_view to_string(Language language) noexcept;

}  // namespace whittle::inline v0
