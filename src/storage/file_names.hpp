#pragma once

#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// A component of a key as the name of a file on Windows, which takes upper and lower case for the same, ends no name
/// with a dot and keeps some names for devices. No key has a '+', which marks what differs: "+a" is "A", "+-" a dot at
/// the end, "+_" stands in front of a device's name and for nothing.
[[nodiscard]] std::string to_windows_name(std::string_view component);
/// The component of such a name; empty for a name that `to_windows_name` gives for none.
[[nodiscard]] std::string from_windows_name(std::string_view name);

}  // namespace whittle::inline v0
