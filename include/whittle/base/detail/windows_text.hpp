#pragma once

#include "whittle/base/platform.hpp"

#include <string>
#include <string_view>

// Defined on Windows alone, whose calls take UTF-16.

namespace whittle::inline v0::detail {

/// UTF-16 of valid UTF-8; empty for what is none.
[[nodiscard]] std::wstring to_utf16(std::string_view text);
[[nodiscard]] std::string to_utf8(std::wstring_view text);
/// A path of any length, as the system's calls take it: absolute, without "." and "..". Empty, and the last error set,
/// if it is none.
[[nodiscard]] std::wstring to_long_path(std::string_view path);

/// The errno of an error of Windows (`GetLastError`); EIO for what has none.
[[nodiscard]] int errno_of_windows(unsigned long error) noexcept;

}  // namespace whittle::inline v0::detail
