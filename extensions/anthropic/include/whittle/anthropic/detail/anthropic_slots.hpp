#pragma once

#include "whittle/message/part.hpp"
#include "whittle/provider/detail/json_message.hpp"
#include "whittle/provider/detail/json_tree.hpp"
#include "whittle/provider/detail/media_source.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Where the parts of a message of Anthropic's Messages API are in its JSON. One enumeration for reading and for
/// editing, so that part numbers mean the same to both.
namespace whittle::inline v0::anthropic::detail {

using nlohmann::ordered_json;
using whittle::detail::find_member;
using whittle::detail::find_string;
using whittle::detail::render;
using whittle::detail::view_other;

enum class Place {
    content_string,  ///< "content" as a string
    content_other,   ///< "content" as something that the format does not have
    block,           ///< element `block` of the array "content", no tool result
    result_string,   ///< the "content" of the tool result `block` as a string
    result_item,     ///< element `item` of that content
    result_other,    ///< that content as something that the format does not have
    empty_result,    ///< a tool result without text, behind its items: its call is answered all the same
};

struct Slot {
    Place place = Place::content_string;
    std::size_t block = 0;
    std::size_t item = 0;
    /// Whether the part begins a result: two blocks with one id are two results. That is its first text or medium, and
    /// what is opaque in front of that. In a result without an id every medium and opaque item says so, since nothing
    /// else tells it from content beside the results.
    bool starts_new_result = false;
};

enum class BlockKind { text, media, thinking, redacted_thinking, tool_use, tool_result, other };

/// What an image or document block shows; nullopt if it is no medium. Views into `block` or `scratch`.
[[nodiscard]] inline std::optional<MediaView> media_of(const ordered_json& block, std::string& scratch) {
    return whittle::detail::media_of_source_block(block, scratch);
}

/// Also thinking whose text is missing, which `kind_of_block` takes for an unknown block.
[[nodiscard]] inline bool is_thinking(const ordered_json& block) {
    const auto type = find_string(block, "type");
    return type == "thinking" || type == "redacted_thinking";
}

[[nodiscard]] inline BlockKind kind_of_block(const ordered_json& block) {
    const auto type = find_string(block, "type").value_or("");
    if (type == "text" && find_string(block, "text")) return BlockKind::text;
    if (type == "thinking" && find_string(block, "thinking")) return BlockKind::thinking;
    if (type == "redacted_thinking") return BlockKind::redacted_thinking;
    if (type == "tool_use") return BlockKind::tool_use;
    if (type == "tool_result") return BlockKind::tool_result;
    if (type != "image" && type != "document") return BlockKind::other;
    std::string scratch;
    return media_of(block, scratch) ? BlockKind::media : BlockKind::other;
}

/// What an item inside a tool result is: text, media or opaque.
[[nodiscard]] inline BlockKind kind_of_item(const ordered_json& item) {
    const BlockKind kind = kind_of_block(item);
    return kind == BlockKind::text || kind == BlockKind::media ? kind : BlockKind::other;
}

template <typename Visit>
void visit_result_slots(const ordered_json& result, std::size_t block, Visit&& visit) {
    const ordered_json* content = find_member(result, "content");
    if (content != nullptr && content->is_string()) return visit(Slot{Place::result_string, block, 0, true});
    bool has_text = false;
    bool has_shown = false;  // text or media
    if (content != nullptr && content->is_array()) {
        const bool has_no_id = find_string(result, "tool_use_id").value_or("").empty();
        for (std::size_t i = 0; i < content->size(); ++i) {
            const BlockKind kind = kind_of_item((*content)[i]);
            visit(Slot{Place::result_item, block, i, !has_shown || (has_no_id && kind != BlockKind::text)});
            has_text = has_text || kind == BlockKind::text;
            has_shown = has_shown || kind != BlockKind::other;
        }
    } else if (content != nullptr && !content->is_null()) {
        visit(Slot{Place::result_other, block, 0, true});
    }
    if (!has_text) visit(Slot{Place::empty_result, block, 0, !has_shown});
}

/// Calls `visit(Slot)` for each part, in the order of part numbers.
template <typename Visit>
void visit_slots(const ordered_json& m, Visit&& visit) {
    const ordered_json* content = find_member(m, "content");
    if (content == nullptr || content->is_null()) return;
    if (content->is_string()) return visit(Slot{Place::content_string});
    if (!content->is_array()) return visit(Slot{Place::content_other});
    for (std::size_t i = 0; i < content->size(); ++i) {
        if (find_string((*content)[i], "type") == "tool_result") {
            visit_result_slots((*content)[i], i, visit);
        } else {
            visit(Slot{Place::block, i});
        }
    }
}

[[nodiscard]] inline PartView view_call(const ordered_json& block, std::string& scratch) {
    PartView view{.kind = PartKind::tool_call,
                  .call_id = find_string(block, "id").value_or(""),
                  .tool = find_string(block, "name").value_or("")};
    if (const ordered_json* input = find_member(block, "input")) view.text = scratch = render(*input);
    return view;
}

[[nodiscard]] inline PartView view_block(const ordered_json& block, std::string& scratch) {
    switch (kind_of_block(block)) {
        case BlockKind::text: return {.kind = PartKind::text, .text = *find_string(block, "text")};
        case BlockKind::media: return {.kind = PartKind::media, .media = *media_of(block, scratch)};
        case BlockKind::thinking: return {.kind = PartKind::thinking, .text = *find_string(block, "thinking")};
        case BlockKind::redacted_thinking: return {.kind = PartKind::thinking};
        case BlockKind::tool_use: return view_call(block, scratch);
        case BlockKind::tool_result:
        case BlockKind::other: break;
    }
    return view_other(block, scratch);
}

[[nodiscard]] inline bool is_error_result(const ordered_json& result) {
    const ordered_json* flag = find_member(result, "is_error");
    return flag != nullptr && flag->is_boolean() && flag->get<bool>();
}

/// Whether the part at `slot` belongs to the result of a failed tool.
[[nodiscard]] inline bool is_in_failed_result(const ordered_json& m, const Slot& slot) {
    const bool is_outside =
        slot.place == Place::content_string || slot.place == Place::content_other || slot.place == Place::block;
    return !is_outside && is_error_result(m["content"][slot.block]);
}

[[nodiscard]] inline PartView view_result(const ordered_json& result, std::string_view text) {
    return {.kind = PartKind::tool_result,
            .text = text,
            .call_id = find_string(result, "tool_use_id").value_or(""),
            .is_error = is_error_result(result)};
}

/// An opaque item of a result carries the call's id: it is no content beside the results.
[[nodiscard]] inline PartView view_opaque_in_result(const ordered_json& result, const ordered_json& value,
                                                    std::string& scratch) {
    PartView view = view_other(value, scratch);
    view.call_id = find_string(result, "tool_use_id").value_or("");
    return view;
}

[[nodiscard]] inline PartView view_result_item(const ordered_json& result, const ordered_json& item,
                                               std::string& scratch) {
    const BlockKind kind = kind_of_item(item);
    if (kind == BlockKind::text) return view_result(result, *find_string(item, "text"));
    if (kind == BlockKind::other) return view_opaque_in_result(result, item, scratch);
    return {.kind = PartKind::media,
            .call_id = find_string(result, "tool_use_id").value_or(""),
            .media = *media_of(item, scratch)};
}

[[nodiscard]] inline PartView view_in_result(const ordered_json& result, const Slot& slot, std::string& scratch) {
    if (slot.place == Place::result_item) return view_result_item(result, result["content"][slot.item], scratch);
    if (slot.place == Place::result_other) return view_opaque_in_result(result, result["content"], scratch);
    const bool has_text = slot.place == Place::result_string;
    return view_result(result, has_text ? *find_string(result, "content") : std::string_view{});
}

[[nodiscard]] inline PartView view_part_of_result(const ordered_json& result, const Slot& slot, std::string& scratch) {
    PartView view = view_in_result(result, slot, scratch);
    view.starts_new_result = slot.starts_new_result;
    return view;
}

/// The part at `slot`. Views into `m` or `scratch`.
[[nodiscard]] inline PartView view_slot(const ordered_json& m, const Slot& slot, std::string& scratch) {
    const ordered_json& content = m["content"];
    switch (slot.place) {
        case Place::content_string: return {.text = content.get_ref<const std::string&>()};
        case Place::content_other: return view_other(content, scratch);
        case Place::block: return view_block(content[slot.block], scratch);
        case Place::result_other:
        case Place::result_string:
        case Place::result_item:
        case Place::empty_result: break;
    }
    return view_part_of_result(content[slot.block], slot, scratch);
}

}  // namespace whittle::inline v0::anthropic::detail
