#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agent {

/// An enumeration as it stands in a header.
struct EnumText {
    std::string name{};
    std::string block{};  ///< from "enum class" to "};", byte for byte
    std::vector<std::string> values{};
};

/// The first `enum class name` in `header`; nullopt if there is none, or if it cannot be read.
[[nodiscard]] std::optional<EnumText> find_enum(std::string_view header, std::string_view name);

/// "every_errc" for "Errc".
[[nodiscard]] std::string list_name(std::string_view enum_name);

/// The enumeration's text, followed by an array of all its values.
[[nodiscard]] std::string with_list(const EnumText& enumeration);

}  // namespace agent
