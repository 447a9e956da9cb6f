#pragma once

#include "whittle/base/version.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// A string value in a JSON text.
struct JsonString {
    std::string key{};      ///< of the member that it is, or that the arrays around it are; empty: of none
    std::string value{};    ///< decoded
    std::size_t begin = 0;  ///< of the literal, its quotes included
    std::size_t end = 0;
    std::size_t depth = 0;  ///< objects and arrays around it
};

/// All string values of a JSON text, at any depth, in its order. `json` has to be valid.
[[nodiscard]] std::vector<JsonString> json_strings(std::string_view json);

}  // namespace whittle::inline v0::detail
