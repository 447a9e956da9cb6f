#pragma once

#include "whittle/base/version.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// `[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}`: safe as one component of a storage key and as a conversation id.
[[nodiscard]] bool is_safe_name(std::string_view name) noexcept;

/// `name` if it is safe; else its first safe characters, a dash and 16 hex digits of its SHA-256: different names stay
/// different, the result is safe, and an empty name gives "unnamed-" and the digits.
[[nodiscard]] std::string to_safe_name(std::string_view name);

/// The one rule for names of tools in settings: `name` means `tool` if both are equal, or if `name` is the bare name of
/// a qualified tool `server__tool` (or `mcp__server__tool`); case does not matter in ASCII. There are no wildcards.
[[nodiscard]] bool names_tool(std::string_view name, std::string_view tool) noexcept;

/// Whether a setting by that name can ever mean a tool: not one that is empty, or has a wildcard, a blank or a control
/// character.
[[nodiscard]] bool may_name_tool(std::string_view name) noexcept;

/// Whether one of `names` means `tool`.
template <typename Range>
[[nodiscard]] bool matches_tool(const Range& names, std::string_view tool) {
    for (const auto& name : names) {
        if (names_tool(name, tool)) return true;
    }
    return false;
}

/// The value for `tool` in a map by tool name: the one with exactly that name, else the one with the longest name that
/// means it; null if there is none.
template <typename Map>
[[nodiscard]] const typename Map::mapped_type* find_for_tool(const Map& by_tool, std::string_view tool) {
    const typename Map::mapped_type* found = nullptr;
    std::size_t longest = 0;
    for (const auto& [name, value] : by_tool) {
        if (name == tool) return &value;
        if (!names_tool(name, tool) || (found != nullptr && name.size() <= longest)) continue;
        found = &value;
        longest = name.size();
    }
    return found;
}

}  // namespace whittle::inline v0
