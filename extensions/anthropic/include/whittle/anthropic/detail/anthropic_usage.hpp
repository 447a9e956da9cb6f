#pragma once

#include "whittle/message/part.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <cstdint>

namespace whittle::inline v0::anthropic::detail {

using nlohmann::ordered_json;
using whittle::detail::find_member;
using whittle::detail::find_string;

/// 0 if there is none, or one that does not fit.
[[nodiscard]] inline std::int64_t count_of(const ordered_json& usage, const char* key) {
    const ordered_json* value = find_member(usage, key);
    if (value == nullptr || !value->is_number_integer()) return 0;
    if (value->is_number_unsigned() && value->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) return 0;
    return value->get<std::int64_t>() > 0 ? value->get<std::int64_t>() : 0;
}

[[nodiscard]] inline Usage counts_of(const ordered_json& usage) {
    const Usage counts{.uncached_input = count_of(usage, "input_tokens"),
                       .cache_read = count_of(usage, "cache_read_input_tokens"),
                       .cache_write = count_of(usage, "cache_creation_input_tokens"),
                       .output = count_of(usage, "output_tokens")};
    const ordered_json* by_age = find_member(usage, "cache_creation");
    if (by_age == nullptr) return counts;
    return counts.with_lifetimes(count_of(*by_age, "ephemeral_5m_input_tokens"),
                                 count_of(*by_age, "ephemeral_1h_input_tokens"));
}

/// The newest of the model's own steps; null if "iterations" has none.
[[nodiscard]] inline const ordered_json* newest_step(const ordered_json& usage) {
    const ordered_json* steps = find_member(usage, "iterations");
    if (steps == nullptr || !steps->is_array()) return nullptr;
    const ordered_json* newest = nullptr;
    for (const ordered_json& step : *steps) {
        if (find_string(step, "type") == "message") newest = &step;
    }
    return newest;
}

}  // namespace whittle::inline v0::anthropic::detail
