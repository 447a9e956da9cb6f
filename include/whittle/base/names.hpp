#pragma once

#include "whittle/base/version.hpp"

#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// `[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}`: safe as one component of a storage key and as a conversation id.
[[nodiscard]] bool is_safe_name(std::string_view name) noexcept;

/// `name` if it is safe; else its first safe characters, a dash and 16 hex digits of its SHA-256: different names stay
/// different, the result is safe, and an empty name gives "unnamed-" and the digits.
[[nodiscard]] std::string to_safe_name(std::string_view name);

/// Whether `tool` is one of `names`. A qualified tool name `server__name` (or `mcp__server__name`) is also matched by
/// its bare name.
template <typename Range>
[[nodiscard]] bool matches_tool(const Range& names, std::string_view tool) {
    const auto at = tool.rfind("__");
    const std::string_view bare = at == std::string_view::npos ? tool : tool.substr(at + 2);
    for (const auto& name : names) {
        if (name == tool || name == bare) return true;
    }
    return false;
}

/// The value for `tool` in a map by tool name, found by its qualified or, failing that, by its bare name; null if there
/// is none.
template <typename Map>
[[nodiscard]] const typename Map::mapped_type* find_for_tool(const Map& by_tool, std::string_view tool) {
    if (by_tool.empty()) return nullptr;
    if (const auto exact = by_tool.find(std::string(tool)); exact != by_tool.end()) return &exact->second;
    const auto at = tool.rfind("__");
    if (at == std::string_view::npos) return nullptr;
    const auto bare = by_tool.find(std::string(tool.substr(at + 2)));
    return bare != by_tool.end() ? &bare->second : nullptr;
}

}  // namespace whittle::inline v0
