#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"
#include "whittle/provider/detail/json_text.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// What a JSON text may ask of us before it is refused.
struct JsonLimits {
    std::size_t max_bytes = 256U << 20U;  ///< of the text
    std::size_t max_depth = 200;          ///< levels of arrays and objects
};

/// What parsing changed silently: duplicate keys, integers beyond 64 bits. One sentence each, with the place; at most
/// 100.
struct ParseNotes {
    std::vector<std::string> notes{};  ///< what was changed or left out in reading, one sentence each
};

}  // namespace whittle::inline v0

namespace whittle::inline v0::detail {

using nlohmann::ordered_json;

/// RFC 8259 and nothing more; lone surrogates and bytes that are not UTF-8 are refused. Never recurses. Throws
/// Error(parse_failed): "{operation}: byte {offset from 0}: {reason}". Calls `check_cancelled` every 64 KiB of `text`.
[[nodiscard]] ordered_json parse_json(std::string_view operation, std::string_view text, const JsonLimits& limits = {},
                                      ParseNotes* notes = nullptr, CancelCheck check_cancelled = never_cancelled);

/// What is to be said where `parse_repaired_json` mended something.
inline constexpr std::string_view repaired_note =
    "half of a surrogate pair, or bytes that are no UTF-8: read as U+FFFD";

/// As `parse_json`, but where that is refused and `repaired_json` has something to mend, what that gives is parsed:
/// `is_repaired` becomes true. Throws as `parse_json` of `text` if that is no JSON either.
[[nodiscard]] ordered_json parse_repaired_json(std::string_view operation, std::string_view text, bool& is_repaired,
                                               const JsonLimits& limits = {}, ParseNotes* notes = nullptr,
                                               CancelCheck check_cancelled = never_cancelled);

/// Whether a string of `value` holds U+FFFD: what was mended does, and so may other texts.
[[nodiscard]] bool holds_replacement(const ordered_json& value);

/// "null", "a number", `"abc"`: what an error text says was found.
[[nodiscard]] inline std::string found_text(const ordered_json& value) {
    switch (value.type()) {
        case ordered_json::value_t::null: return "null";
        case ordered_json::value_t::object: return "an object";
        case ordered_json::value_t::array: return "an array";
        case ordered_json::value_t::string: return "\"" + clip_for_error(value.get_ref<const std::string&>()) + "\"";
        case ordered_json::value_t::boolean: return value.get<bool>() ? "true" : "false";
        case ordered_json::value_t::binary:
        case ordered_json::value_t::discarded: return "a value that JSON does not have";
        default: return "the number " + value.dump();
    }
}

/// The member `key` of the object `value`, or null.
[[nodiscard]] inline const ordered_json* find_member(const ordered_json& value, const char* key) {
    if (!value.is_object()) return nullptr;
    const auto at = value.find(key);
    return at == value.end() ? nullptr : &*at;
}

/// The text of the string member `key`; nullopt if there is none or it is something else. A view into `value`.
[[nodiscard]] inline std::optional<std::string_view> find_string(const ordered_json& value, const char* key) {
    const ordered_json* member = find_member(value, key);
    if (member == nullptr || !member->is_string()) return std::nullopt;
    return std::string_view(member->get_ref<const std::string&>());
}

/// Why `value` cannot be written as JSON text and read back: too deep, binary, or a number that is not finite. Empty if
/// it can.
[[nodiscard]] inline std::string reason_not_to_write(const ordered_json& value, std::size_t max_depth) {
    std::vector<std::pair<const ordered_json*, std::size_t>> open{{&value, 1}};
    while (!open.empty()) {
        const auto [node, depth] = open.back();
        open.pop_back();
        if (node->is_binary() || node->is_discarded()) return "holds a value that JSON does not have";
        if (node->is_number_float() && !std::isfinite(node->get<double>())) return "holds a number that is not finite";
        if (!node->is_structured()) continue;
        if (depth > max_depth) return "is nested deeper than " + std::to_string(max_depth) + " levels";
        for (const ordered_json& child : *node) open.emplace_back(&child, depth + 1);
    }
    return {};
}

/// `value` with every key and string replaced by `map` of it. Recursive: only for trees whose depth was checked.
template <typename Map>
[[nodiscard]] ordered_json map_strings(const ordered_json& value, const Map& map) {
    if (value.is_string()) return map(value.get_ref<const std::string&>());
    ordered_json out = value.is_object() ? ordered_json::object() : ordered_json::array();
    if (value.is_array()) {
        for (const ordered_json& child : value) out.push_back(map_strings(child, map));
        return out;
    }
    if (!value.is_object()) return value;
    auto& members = out.get_ref<ordered_json::object_t&>();
    members.reserve(value.size());
    for (const auto& [key, child] : value.items()) members.emplace_back(map(key), map_strings(child, map));
    return out;
}

}  // namespace whittle::inline v0::detail
