#pragma once

#include "whittle/base/version.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// What a model asks of `read_offloaded`.
struct ReadArguments {
    std::string reference{};
    std::optional<std::int64_t> offset{};
    std::optional<std::int64_t> max_bytes{};
    std::optional<std::int64_t> first_line{};
    std::optional<std::int64_t> lines{};
    std::optional<std::string> grep{};
    std::optional<std::int64_t> context{};
};

/// Throws Error(invalid_argument) with what is wrong and what would be right.
[[nodiscard]] ReadArguments parse_read_arguments(std::string_view json, std::int64_t largest_context);
[[nodiscard]] std::string read_arguments_schema(std::int64_t largest_context);

}  // namespace whittle::inline v0::detail
