#pragma once

#include "whittle/adapter/detail/openai_slots.hpp"
#include "whittle/base/text.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0::openai::detail {

constexpr std::size_t max_message_depth = 200;
constexpr const char* exact_text_key = "bytes_as_code_points";

[[nodiscard]] inline bool is_role_name(std::string_view name) noexcept {
    return name == "user" || role_of(name) != Role::user;
}

/// Empty if `json` is a message.
[[nodiscard]] inline std::string reason_not_a_message(const ordered_json& json) {
    if (!json.is_object()) return "expected an object, found " + whittle::detail::found_text(json);
    const ordered_json* role = find_member(json, "role");
    if (role == nullptr) return "role: expected a string, found nothing";
    if (!role->is_string()) return "role: expected a string, found " + whittle::detail::found_text(*role);
    if (!is_role_name(role->get_ref<const std::string&>())) {
        return "role: expected system, developer, user, assistant, tool or function, found " +
               whittle::detail::found_text(*role);
    }
    const std::string reason = whittle::detail::reason_not_to_write(json, max_message_depth);
    return reason.empty() ? reason : "the message " + reason;
}

[[nodiscard]] inline ordered_json text_item(std::string text) { return {{"type", "text"}, {"text", std::move(text)}}; }

// ---- set_text -------------------------------------------------------------------------------------------------------

[[nodiscard]] inline ordered_json parse_arguments(std::string_view text) {
    const JsonLimits limits{.max_depth = max_message_depth - 4};  // message, tool_calls, call, function are above
    try {
        return whittle::detail::parse_json("set the arguments of a tool call", text, limits);
    } catch (const Error& e) {
        throw Error(Errc::invalid_argument, e.what());
    }
}

/// A server that wants arguments as an object gets an object again.
inline void set_arguments(ordered_json& call, std::string_view text) {
    const CallFields fields = call_fields(call);
    if (fields.holder == nullptr) throw Error(Errc::invalid_argument, "set the text of a tool call: it is opaque");
    if (!is_json_object(text)) {
        throw Error(Errc::invalid_argument, "set the arguments of a tool call: they must be a JSON object");
    }
    const ordered_json* now = find_member(call[fields.holder], fields.text);
    ordered_json value = std::string(text);
    if (now != nullptr && !now->is_string()) value = parse_arguments(text);
    call[fields.holder][fields.text] = std::move(value);
}

inline void set_item(ordered_json& item, std::string_view text) {
    switch (kind_of_item(item)) {
        case ItemKind::text:
            item["text"] = std::string(text);
            return;
        case ItemKind::media:
            item = text_item(std::string(text));
            return;
        case ItemKind::other:
            break;
    }
    throw Error(Errc::invalid_argument, "set the text of a part: it is opaque");
}

inline void set_empty_result(ordered_json& content, std::string_view text) {
    if (content.is_array()) {
        content.push_back(text_item(std::string(text)));
    } else {
        content = std::string(text);
    }
}

/// JSON has no place for bytes that are not UTF-8: they become U+FFFD, as in `make_tool_results`.
inline void set_text(ordered_json& m, std::size_t part, std::string_view raw) {
    const Slot slot = slot_at(m, part, "set the text");
    const std::string text = to_valid_utf8(raw);
    switch (slot.place) {
        case Place::reasoning:
        case Place::content_string:
            m[slot.key] = text;
            return;
        case Place::content_item:
            set_item(m[slot.key][slot.index], text);
            return;
        case Place::empty_result:
            set_empty_result(m[slot.key], text);
            return;
        case Place::tool_call:
            set_arguments(m[slot.key][slot.index], text);
            return;
        case Place::content_other:
        case Place::member:
            break;
    }
    throw Error(Errc::invalid_argument, "set the text of part " + std::to_string(part) + ": it is opaque");
}

// ---- erase_part -----------------------------------------------------------------------------------------------------

/// Null is what the format allows beside tool calls, and holds no part. In a tool message null would still be an
/// (empty) result: there the member goes.
inline void empty_content(ordered_json& m) {
    if (is_tool_message(m)) {
        m.erase("content");
    } else {
        m["content"] = nullptr;
    }
}

inline void erase_element(ordered_json& m, const Slot& slot) {
    ordered_json& array = m[slot.key];
    array.erase(slot.index);
    if (!array.empty()) return;
    if (slot.place == Place::tool_call) {
        m.erase(slot.key);
    } else {
        empty_content(m);
    }
}

/// Beside opaque items there is nothing to take away.
inline void erase_empty_result(ordered_json& m) {
    if (m["content"].empty()) empty_content(m);
}

inline void erase_part(ordered_json& m, std::size_t part) {
    const Slot slot = slot_at(m, part, "erase");
    switch (slot.place) {
        case Place::reasoning:
        case Place::member:
            m.erase(slot.key);
            return;
        case Place::content_string:
        case Place::content_other:
            empty_content(m);
            return;
        case Place::content_item:
        case Place::tool_call:
            erase_element(m, slot);
            return;
        case Place::empty_result:
            erase_empty_result(m);
            return;
    }
}

// ---- make_tool_results ----------------------------------------------------------------------------------------------

[[nodiscard]] inline ordered_json result_content(const ToolResult& result) {
    ordered_json texts = ordered_json::array();
    for (const Part& part : result.parts) {
        if (part.kind != PartKind::media) texts.push_back(text_item(to_valid_utf8(part.text)));
    }
    if (texts.empty()) return "";
    if (texts.size() == 1) return std::move(texts[0]["text"]);
    return texts;
}

[[nodiscard]] inline ordered_json make_tool_message(const ToolResult& result) {
    ordered_json message{{"role", "tool"}, {"content", result_content(result)}, {"tool_call_id", result.call_id}};
    if (!result.tool.empty()) message["name"] = to_valid_utf8(result.tool);
    return message;
}

[[nodiscard]] inline std::string data_url_of(const Media& media) {
    return media.url.empty() ? whittle::detail::to_data_url(media.mime, media.bytes) : media.url;
}

[[nodiscard]] inline ordered_json audio_item(const std::string& mime, std::string_view base64) {
    const std::string format = mime == "audio/mpeg" ? "mp3" : mime == "audio/x-wav" ? "wav" : mime.substr(6);
    return {{"type", "input_audio"}, {"input_audio", {{"data", std::string(base64)}, {"format", format}}}};
}

/// Sound and documents travel as base64 only; a mere link to one is shown as text.
[[nodiscard]] inline ordered_json media_item(const Media& media) {
    std::string url = to_valid_utf8(data_url_of(media));
    const bool is_audio = media.mime.starts_with("audio/");
    const bool is_file = media.mime.starts_with("application/") || media.mime.starts_with("text/");
    if (!is_audio && !is_file) return {{"type", "image_url"}, {"image_url", {{"url", std::move(url)}}}};
    const auto base64 = whittle::detail::base64_of_data_url(url);
    if (!base64) return text_item("[" + to_valid_utf8(media.mime) + ": " + url + "]");
    if (is_audio) return audio_item(to_valid_utf8(media.mime), *base64);
    return {{"type", "file"}, {"file", {{"filename", "result"}, {"file_data", std::move(url)}}}};
}

/// The content of the user message that follows the tool messages; empty if no result has media.
[[nodiscard]] inline ordered_json media_items(std::span<const ToolResult> results) {
    ordered_json items = ordered_json::array();
    for (const ToolResult& result : results) {
        bool named = false;
        for (const Part& part : result.parts) {
            if (part.kind != PartKind::media) continue;
            if (!named) items.push_back(text_item("[media of tool result " + to_valid_utf8(result.call_id) + "]"));
            named = true;
            items.push_back(media_item(part.media));
        }
    }
    return items;
}

// ---- codec ----------------------------------------------------------------------------------------------------------

/// Compact JSON that `from_exact_text` reads back to the same tree, also with strings that are not UTF-8.
[[nodiscard]] inline std::string to_exact_text(const ordered_json& json) {
    try {
        return json.dump();
    } catch (const nlohmann::detail::type_error&) {
        const auto widen = [](const std::string& bytes) { return whittle::detail::bytes_to_code_points(bytes); };
        return ordered_json{{exact_text_key, whittle::detail::map_strings(json, widen)}}.dump();
    }
}

[[nodiscard]] inline std::string narrow_or_throw(const std::string& text) {
    auto bytes = whittle::detail::code_points_to_bytes(text);
    if (!bytes) throw Error(Errc::parse_failed, "read a saved OpenAI message: a code point above U+00FF");
    return *std::move(bytes);
}

[[nodiscard]] inline ordered_json from_exact_text(std::string_view text) {
    const JsonLimits limits{.max_bytes = SIZE_MAX, .max_depth = max_message_depth + 1};
    ordered_json json = whittle::detail::parse_json("read a saved OpenAI message", text, limits);
    if (json.is_object() && json.size() == 1 && json.contains(exact_text_key)) {
        json = whittle::detail::map_strings(json[exact_text_key], narrow_or_throw);
    }
    const std::string reason = reason_not_a_message(json);
    if (!reason.empty()) throw Error(Errc::parse_failed, "read a saved OpenAI message: " + reason);
    return json;
}

}  // namespace whittle::inline v0::openai::detail
