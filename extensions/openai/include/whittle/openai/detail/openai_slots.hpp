#pragma once

#include "whittle/message/part.hpp"
#include "whittle/provider/detail/json_message.hpp"
#include "whittle/provider/detail/json_tree.hpp"
#include "whittle/provider/detail/media_source.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Where the parts of a chat-completions message are in its JSON. One enumeration for reading and for editing, so that
/// part numbers mean the same to both.
namespace whittle::inline v0::openai::detail {

using nlohmann::ordered_json;
using whittle::detail::find_member;
using whittle::detail::find_string;
using whittle::detail::render;
using whittle::detail::view_other;

enum class Place {
    reasoning,       ///< the string "reasoning_content"
    content_string,  ///< "content" as a string
    content_item,    ///< element `index` of the array "content"
    content_other,   ///< "content" as something that the format does not have
    empty_result,    ///< a tool message whose content is null, [] or opaque: its call is answered all the same
    tool_call,       ///< element `index` of "tool_calls"
    member,          ///< an opaque member: refusal, audio, function_call
};

struct Slot {
    Place place = Place::content_string;
    std::size_t index = 0;
    const char* key = "content";
};

enum class ItemKind { text, media, other };

/// Content items that hold a URL in a member of their own name; input_image of the Responses API has it in image_url.
constexpr std::array<std::pair<const char*, const char*>, 3> url_items{
    {{"image_url", "image/*"}, {"video_url", "video/*"}, {"audio_url", "audio/*"}}};

/// The URL of an item such as {"type":"image_url","image_url":{"url":...}}; some servers take a plain string instead.
[[nodiscard]] inline std::optional<std::string_view> url_of_item(const ordered_json& item, const char* key) {
    const ordered_json* holder = find_member(item, key);
    if (holder == nullptr) return std::nullopt;
    return holder->is_object() ? find_string(*holder, "url") : find_string(item, key);
}

[[nodiscard]] inline std::optional<MediaView> media_of_url_item(const ordered_json& item, std::string_view type) {
    for (const auto& [key, mime] : url_items) {
        if (type != key && !(type == "input_image" && key == std::string_view("image_url"))) continue;
        const auto url = url_of_item(item, key);
        if (!url) return std::nullopt;
        const std::string_view data_mime = whittle::detail::mime_of_data_url(*url);
        return MediaView{.mime = data_mime.empty() ? std::string_view(mime) : data_mime, .url = *url};
    }
    return std::nullopt;
}

/// `scratch` gets the data: URL that stands for the item's base64 text.
[[nodiscard]] inline std::optional<MediaView> media_of_audio_item(const ordered_json& item, std::string& scratch) {
    const ordered_json* audio = find_member(item, "input_audio");
    const auto data = audio != nullptr ? find_string(*audio, "data") : std::nullopt;
    if (!data) return std::nullopt;
    const std::string_view format = find_string(*audio, "format").value_or("*");
    scratch = "data:audio/";
    scratch.append(format).append(";base64,").append(*data);
    return MediaView{.mime = std::string_view(scratch).substr(5, 6 + format.size()), .url = scratch};
}

[[nodiscard]] inline std::optional<MediaView> media_of_file_item(const ordered_json& item) {
    const ordered_json* file = find_member(item, "file");
    if (file == nullptr) return std::nullopt;
    const auto data = find_string(*file, "file_data");
    const auto url = data ? data : find_string(*file, "file_id");
    if (!url) return std::nullopt;
    return MediaView{.mime = whittle::detail::mime_of_data_url(*url), .url = *url};
}

/// What a content item shows; nullopt if it is no medium. Views into `item` or `scratch`. Gateways and frameworks leave
/// blocks of other interfaces in these lists: Anthropic's image and document, and input_image of the Responses API.
[[nodiscard]] inline std::optional<MediaView> media_of(const ordered_json& item, std::string& scratch) {
    const auto type = find_string(item, "type");
    if (!type) return std::nullopt;
    if (*type == "input_audio") return media_of_audio_item(item, scratch);
    if (*type == "file") return media_of_file_item(item);
    if (*type == "image" || *type == "document") return whittle::detail::media_of_source_block(item, scratch);
    return media_of_url_item(item, *type);
}

[[nodiscard]] inline ItemKind kind_of_item(const ordered_json& item) {
    if (find_string(item, "type") == "text" && find_string(item, "text")) return ItemKind::text;
    std::string scratch;
    return media_of(item, scratch) ? ItemKind::media : ItemKind::other;
}

[[nodiscard]] inline Role role_of(std::string_view name) noexcept {
    if (name == "system" || name == "developer") return Role::system;
    if (name == "assistant") return Role::assistant;
    if (name == "tool" || name == "function") return Role::tool;
    return Role::user;
}

[[nodiscard]] inline bool is_tool_message(const ordered_json& m) {
    return role_of(find_string(m, "role").value_or("")) == Role::tool;
}

template <typename Visit>
void visit_content_slots(const ordered_json& m, Visit&& visit) {
    const ordered_json* content = find_member(m, "content");
    if (content == nullptr) return;
    if (content->is_string()) return visit(Slot{Place::content_string});
    if (!content->is_array() && !content->is_null()) return visit(Slot{Place::content_other});
    bool shows_result = false;
    for (std::size_t i = 0; i < content->size(); ++i) {
        shows_result = shows_result || kind_of_item((*content)[i]) != ItemKind::other;
        visit(Slot{Place::content_item, i});
    }
    if (!shows_result && is_tool_message(m)) visit(Slot{Place::empty_result});
}

/// Calls `visit(Slot)` for each part, in the order of part numbers.
template <typename Visit>
void visit_slots(const ordered_json& m, Visit&& visit) {
    if (find_string(m, "reasoning_content")) visit(Slot{Place::reasoning, 0, "reasoning_content"});
    visit_content_slots(m, visit);
    const ordered_json* calls = find_member(m, "tool_calls");
    const std::size_t count = calls != nullptr && calls->is_array() ? calls->size() : 0;
    for (std::size_t i = 0; i < count; ++i) visit(Slot{Place::tool_call, i, "tool_calls"});
    for (const char* key : {"refusal", "audio", "function_call"}) {
        const ordered_json* member = find_member(m, key);
        if (member != nullptr && !member->is_null()) visit(Slot{Place::member, 0, key});
    }
}

/// The payload of a call: {"function":{"name","arguments"}} or {"custom":{"name","input"}}.
struct CallFields {
    const char* holder = nullptr;  ///< null: no call that we know
    const char* text = nullptr;
};

[[nodiscard]] inline CallFields call_fields(const ordered_json& call) {
    const auto is_object = [&](const char* key) {
        const ordered_json* holder = find_member(call, key);
        return holder != nullptr && holder->is_object();
    };
    if (is_object("function")) return {"function", "arguments"};
    if (is_object("custom")) return {"custom", "input"};
    return {};
}

[[nodiscard]] inline PartView view_call(const ordered_json& call, std::string& scratch) {
    const CallFields fields = call_fields(call);
    if (fields.holder == nullptr) return view_other(call, scratch);
    const ordered_json& holder = call[fields.holder];
    PartView view{.kind = PartKind::tool_call,
                  .call_id = find_string(call, "id").value_or(""),
                  .tool = find_string(holder, "name").value_or("")};
    const ordered_json* text = find_member(holder, fields.text);
    if (text == nullptr) return view;
    if (text->is_string()) {
        view.text = text->get_ref<const std::string&>();
    } else {
        view.text = scratch = render(*text);
    }
    return view;
}

/// Text of a message, or of a tool result if it is a tool message.
[[nodiscard]] inline PartView view_text(const ordered_json& m, std::string_view text) {
    if (!is_tool_message(m)) return {.text = text};
    return {.kind = PartKind::tool_result,
            .text = text,
            .call_id = find_string(m, "tool_call_id").value_or(""),
            .tool = find_string(m, "name").value_or("")};
}

[[nodiscard]] inline PartView view_item(const ordered_json& m, const ordered_json& item, std::string& scratch) {
    if (kind_of_item(item) == ItemKind::text) return view_text(m, *find_string(item, "text"));
    const auto media = media_of(item, scratch);
    if (!media) return view_other(item, scratch);
    const bool in_result = is_tool_message(m);
    return {.kind = PartKind::media,
            .call_id = in_result ? find_string(m, "tool_call_id").value_or("") : std::string_view{},
            .media = *media};
}

/// The part at `slot`. Views into `m` or `scratch`.
[[nodiscard]] inline PartView view_slot(const ordered_json& m, const Slot& slot, std::string& scratch) {
    switch (slot.place) {
        case Place::reasoning: return {.kind = PartKind::thinking, .text = *find_string(m, slot.key)};
        case Place::content_string: return view_text(m, *find_string(m, slot.key));
        case Place::content_item: return view_item(m, m[slot.key][slot.index], scratch);
        case Place::empty_result: return view_text(m, {});
        case Place::tool_call: return view_call(m[slot.key][slot.index], scratch);
        case Place::content_other:
        case Place::member: break;
    }
    return view_other(m[slot.key], scratch);
}

}  // namespace whittle::inline v0::openai::detail
