#pragma once

#include "whittle/base/text.hpp"
#include "whittle/openai/detail/openai_slots.hpp"
#include "whittle/provider/provider_message.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::openai::detail {

using whittle::detail::text_item;

[[nodiscard]] inline bool is_role_name(std::string_view name) noexcept {
    return name == "user" || role_of(name) != Role::user;
}

/// Empty if `json` is a message.
[[nodiscard]] inline std::string reason_not_a_message(const ordered_json& json) {
    return whittle::detail::reason_not_a_message(json, is_role_name,
                                                 "system, developer, user, assistant, tool or function");
}

/// A server that wants arguments as an object gets an object again.
inline void set_arguments(ordered_json& call, std::string_view text) {
    const CallFields fields = call_fields(call);
    if (fields.holder == nullptr) throw Error(Errc::invalid_argument, "set the text of a tool call: it is opaque");
    if (!is_json_object(text)) whittle::detail::refuse_arguments();
    const ordered_json* now = find_member(call[fields.holder], fields.text);
    ordered_json value = std::string(text);
    constexpr std::size_t levels_above = 4;  // message, tool_calls, call, function
    if (now != nullptr && !now->is_string()) value = whittle::detail::parse_arguments(text, levels_above);
    call[fields.holder][fields.text] = std::move(value);
}

inline void set_item(ordered_json& item, std::string_view text) {
    switch (kind_of_item(item)) {
        case ItemKind::text: item["text"] = std::string(text); return;
        case ItemKind::media: item = text_item(std::string(text)); return;
        case ItemKind::other: break;
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
inline void set_text(ordered_json& m, std::size_t part, const Slot& slot, std::string_view raw) {
    const std::string text = to_valid_utf8(raw);
    switch (slot.place) {
        case Place::reasoning:
        case Place::content_string: m[slot.key] = text; return;
        case Place::content_item: set_item(m[slot.key][slot.index], text); return;
        case Place::empty_result: set_empty_result(m[slot.key], text); return;
        case Place::tool_call: set_arguments(m[slot.key][slot.index], text); return;
        case Place::content_other:
        case Place::member: break;
    }
    throw Error(Errc::invalid_argument, "set the text of part " + std::to_string(part) + ": it is opaque");
}

/// Whether setting the text at `slot` leaves every other part as and where it is.
[[nodiscard]] inline bool is_set_in_place(const ordered_json& m, std::span<const Slot>, const Slot& slot) {
    if (slot.place == Place::content_string || slot.place == Place::tool_call) return true;
    return slot.place == Place::content_item && kind_of_item(m[slot.key][slot.index]) != ItemKind::other;
}

/// Null is what the format allows beside tool calls, and holds no part. In a tool message null would still be an
/// (empty) result: there the member goes.
inline void empty_content(ordered_json& m) {
    if (is_tool_message(m)) {
        m.erase("content");
    } else {
        m["content"] = nullptr;
    }
}

/// Elements of "content" or "tool_calls", ascending.
inline void erase_elements(ordered_json& m, const Slot& slot, std::span<const std::size_t> elements) {
    ordered_json& array = m[slot.key];
    whittle::detail::erase_elements(array, elements);
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

inline void erase_outside_arrays(ordered_json& m, const Slot& slot) {
    if (slot.place == Place::empty_result) return erase_empty_result(m);
    if (slot.place == Place::content_string || slot.place == Place::content_other) return empty_content(m);
    m.erase(slot.key);
}

/// From the last to the first, so that the slots in front stay true; those of one array in one pass. `parts`:
/// ascending, each once.
inline void erase_parts(ordered_json& m, std::span<const Slot> slots, std::span<const std::size_t> parts) {
    std::vector<std::size_t> elements;  // of one array
    for (std::size_t i = parts.size(); i-- > 0;) {
        const Slot& slot = slots[parts[i]];
        if (slot.place != Place::content_item && slot.place != Place::tool_call) {
            erase_outside_arrays(m, slot);
            continue;
        }
        elements.push_back(slot.index);
        if (i > 0 && slots[parts[i - 1]].place == slot.place) continue;
        std::ranges::reverse(elements);
        erase_elements(m, slot, elements);
        elements.clear();
    }
}

inline void rename_call(ordered_json& m, std::size_t part, const Slot& slot, std::string_view call_id,
                        std::string_view tool) {
    const std::string name = to_valid_utf8(tool);
    if (slot.place == Place::tool_call) {
        ordered_json& call = m[slot.key][slot.index];
        const CallFields fields = call_fields(call);
        if (fields.holder == nullptr) throw Error(Errc::invalid_argument, "rename a tool call: it is opaque");
        call["id"] = to_valid_utf8(call_id);
        if (!name.empty()) call[fields.holder]["name"] = name;
        return;
    }
    if (!is_tool_message(m)) {
        throw Error(Errc::invalid_argument,
                    "rename the call of part " + std::to_string(part) + ": it is neither call nor result");
    }
    m["tool_call_id"] = to_valid_utf8(call_id);
    if (!name.empty() && find_member(m, "name") != nullptr) m["name"] = name;
}

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

}  // namespace whittle::inline v0::openai::detail

namespace whittle::inline v0::openai {
class Message;
}  // namespace whittle::inline v0::openai

namespace whittle::inline v0::detail {

template <>
struct ProviderFormat<openai::Message> {
    using Slot = openai::detail::Slot;
    static constexpr std::string_view name = "OpenAI message";
    static constexpr auto& role_of = openai::detail::role_of;
    static constexpr auto& reason_not_a_message = openai::detail::reason_not_a_message;
    template <typename Visit>
    static void visit_slots(const ordered_json& m, const Visit& visit) {
        openai::detail::visit_slots(m, visit);
    }
    static constexpr auto& view_slot = openai::detail::view_slot;
    static constexpr auto& set_text = openai::detail::set_text;
    static constexpr auto& is_set_in_place = openai::detail::is_set_in_place;
    static constexpr auto& erase_parts = openai::detail::erase_parts;
    static constexpr auto& rename_call = openai::detail::rename_call;
};

}  // namespace whittle::inline v0::detail
