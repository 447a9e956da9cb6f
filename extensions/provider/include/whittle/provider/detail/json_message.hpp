#pragma once

#include "whittle/base/text.hpp"
#include "whittle/message/part.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

/// What all messages that are JSON share: arguments, opaque values, and bytes to save.
namespace whittle::inline v0::detail {

constexpr std::size_t max_message_depth = 200;
constexpr const char* exact_text_key = "bytes_as_code_points";

/// What does not fit JSON text is shown with U+FFFD: such text is only looked at.
[[nodiscard]] inline std::string render(const ordered_json& value) {
    return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// `scratch` gets what had to be rendered.
[[nodiscard]] inline PartView view_other(const ordered_json& value, std::string& scratch) {
    if (value.is_string()) return {.kind = PartKind::other, .text = value.get_ref<const std::string&>()};
    scratch = render(value);
    return {.kind = PartKind::other, .text = scratch};
}

/// Where a JSON message has what `set_mark_id` gives it. No provider gets it.
inline constexpr const char* mark_id_member = "whittle_mark";

[[nodiscard]] inline std::string mark_id_of(const ordered_json& message) {
    return std::string(find_string(message, mark_id_member).value_or(""));
}

inline void set_mark_id_of(ordered_json& message, std::string_view id) {
    if (id.empty()) {
        message.erase(mark_id_member);
    } else {
        message[mark_id_member] = to_valid_utf8(id);
    }
}

/// {"type":"text","text":...}, the same in both formats.
[[nodiscard]] inline ordered_json text_item(std::string text) { return {{"type", "text"}, {"text", std::move(text)}}; }

/// Takes elements out of an array in one pass. `gone`: ascending, each once, all of them there.
inline void erase_elements(ordered_json& array, std::span<const std::size_t> gone) {
    if (gone.empty()) return;
    auto next = gone.begin();
    std::size_t kept = *next;
    for (std::size_t i = kept; i < array.size(); ++i) {
        if (next != gone.end() && *next == i) {
            ++next;
        } else {
            array[kept++] = std::move(array[i]);
        }
    }
    array.erase(array.begin() + static_cast<std::ptrdiff_t>(kept), array.end());
}

/// Empty if `json` is a message: an object whose "role" is one of `roles`, which is also what the reason shows.
template <typename IsRole>
[[nodiscard]] std::string reason_not_a_message(const ordered_json& json, const IsRole& is_role,
                                               std::string_view roles) {
    if (!json.is_object()) return "expected an object, found " + found_text(json);
    const ordered_json* role = find_member(json, "role");
    if (role == nullptr) return "role: expected a string, found nothing";
    if (!role->is_string()) return "role: expected a string, found " + found_text(*role);
    if (!is_role(role->get_ref<const std::string&>())) {
        return "role: expected " + std::string(roles) + ", found " + found_text(*role);
    }
    const std::string reason = reason_not_to_write(json, max_message_depth);
    return reason.empty() ? reason : "the message " + reason;
}

/// The arguments of a call as a tree. `levels_above` them in the message count against its depth. Throws
/// Error(invalid_argument).
[[nodiscard]] inline ordered_json parse_arguments(std::string_view text, std::size_t levels_above) {
    const JsonLimits limits{.max_depth = max_message_depth - levels_above};
    try {
        return parse_json("set the arguments of a tool call", text, limits);
    } catch (const Error& e) {
        throw Error(Errc::invalid_argument, e.what());
    }
}

[[noreturn]] inline void refuse_arguments() {
    throw Error(Errc::invalid_argument, "set the arguments of a tool call: they must be a JSON object");
}

/// Compact JSON that `from_exact_text` reads back to the same tree, also with strings that are not UTF-8.
[[nodiscard]] inline std::string to_exact_text(const ordered_json& json) {
    try {
        return json.dump();
    } catch (const nlohmann::detail::type_error&) {
        const auto widen = [](const std::string& bytes) { return bytes_to_code_points(bytes); };
        return ordered_json{{exact_text_key, map_strings(json, widen)}}.dump();
    }
}

/// Throws Error(parse_failed), also if `reason_not` of the tree is not empty.
template <typename ReasonNot>
[[nodiscard]] ordered_json from_exact_text(std::string_view operation, std::string_view text,
                                           const ReasonNot& reason_not) {
    const auto fail = [&](const std::string& reason) {
        throw Error(Errc::parse_failed, std::string(operation) + ": " + reason);
    };
    const JsonLimits limits{.max_bytes = SIZE_MAX, .max_depth = max_message_depth + 1};
    ordered_json json = parse_json(operation, text, limits);
    if (json.is_object() && json.size() == 1 && json.contains(exact_text_key)) {
        json = map_strings(json[exact_text_key], [&](const std::string& wide) {
            auto bytes = code_points_to_bytes(wide);
            if (!bytes) fail("a code point above U+00FF");
            return *std::move(bytes);
        });
    }
    if (const std::string reason = reason_not(json); !reason.empty()) fail(reason);
    return json;
}

}  // namespace whittle::inline v0::detail
