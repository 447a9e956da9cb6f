#pragma once

#include "whittle/anthropic/detail/anthropic_slots.hpp"
#include "whittle/base/text.hpp"
#include "whittle/provider/detail/json_message.hpp"
#include "whittle/provider/provider_message.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::anthropic::detail {

using whittle::detail::text_item;

[[nodiscard]] inline bool is_role_name(std::string_view name) noexcept {
    return name == "user" || name == "assistant" || name == "system";
}

[[nodiscard]] inline Role role_of(std::string_view name) noexcept {
    if (name == "assistant") return Role::assistant;
    return name == "system" ? Role::system : Role::user;
}

/// Empty if `json` is a message.
[[nodiscard]] inline std::string reason_not_a_message(const ordered_json& json) {
    return whittle::detail::reason_not_a_message(json, is_role_name, "user, assistant or system");
}

[[noreturn]] inline void refuse_text(const std::string& reason) {
    throw Error(Errc::invalid_argument, "set the text of a part: " + reason);
}

/// A mark for the prompt cache holds for whatever stands at this place.
inline void replace_by_text(ordered_json& block, std::string text) {
    ordered_json fresh = text_item(std::move(text));
    if (const ordered_json* mark = find_member(block, "cache_control")) fresh["cache_control"] = *mark;
    block = std::move(fresh);
}

/// The server checks the signature over the text.
inline void set_thinking(ordered_json& block, std::string text) {
    const auto signature = find_string(block, "signature");
    if (signature && !signature->empty()) refuse_text("signed thinking can only be erased");
    block["thinking"] = std::move(text);
}

inline void set_input(ordered_json& block, std::string_view text) {
    constexpr std::size_t levels_above = 3;  // message, content, block
    if (!is_json_object(text)) whittle::detail::refuse_arguments();
    block["input"] = whittle::detail::parse_arguments(text, levels_above);
}

inline void set_block(ordered_json& block, const std::string& text) {
    switch (kind_of_block(block)) {
        case BlockKind::text: block["text"] = text; return;
        case BlockKind::media: return replace_by_text(block, text);
        case BlockKind::thinking: return set_thinking(block, text);
        case BlockKind::tool_use: return set_input(block, text);
        case BlockKind::redacted_thinking: refuse_text("redacted thinking can only be erased");
        case BlockKind::tool_result:
        case BlockKind::other: break;
    }
    refuse_text("it is opaque");
}

inline void set_empty_result(ordered_json& result, const std::string& text) {
    const ordered_json* content = find_member(result, "content");
    if (content != nullptr && content->is_array()) {
        result["content"].push_back(text_item(text));
    } else if (content == nullptr || content->is_null()) {
        result["content"] = text;
    } else {
        refuse_text("the content of the tool result is opaque");
    }
}

inline void set_result_item(ordered_json& item, const std::string& text) {
    if (kind_of_item(item) == BlockKind::other) refuse_text("it is opaque");
    set_block(item, text);
}

[[nodiscard]] inline std::string thinking_signature(const ordered_json& m) {
    std::string signatures;
    const ordered_json* content = find_member(m, "content");
    if (content == nullptr || !content->is_array()) return signatures;
    for (const ordered_json& block : *content) {
        const BlockKind kind = kind_of_block(block);
        if (kind != BlockKind::thinking && kind != BlockKind::redacted_thinking) continue;
        const auto bytes = find_string(block, kind == BlockKind::thinking ? "signature" : "data");
        if (bytes) signatures.append(std::to_string(bytes->size())).append(":").append(*bytes);
    }
    return signatures;
}

/// JSON has no place for bytes that are not UTF-8: they become U+FFFD, as in `make_tool_results`.
inline void set_text(ordered_json& m, std::size_t, const Slot& slot, std::string_view raw) {
    const std::string text = to_valid_utf8(raw);
    ordered_json& content = m["content"];
    switch (slot.place) {
        case Place::content_string: content = text; return;
        case Place::block: return set_block(content[slot.block], text);
        case Place::result_string: content[slot.block]["content"] = text; return;
        case Place::result_item: return set_result_item(content[slot.block]["content"][slot.item], text);
        case Place::empty_result: return set_empty_result(content[slot.block], text);
        case Place::content_other:
        case Place::result_other: break;
    }
    refuse_text("it is opaque");
}

/// Whether the result at `block` has no text, so that an empty one is shown behind its items.
[[nodiscard]] inline bool shows_empty_text(std::span<const Slot> slots, std::size_t block) {
    const auto behind = std::ranges::upper_bound(slots, block, {}, &Slot::block);
    return behind != slots.begin() && std::prev(behind)->place == Place::empty_result;
}

/// Text in place of media takes away the empty text behind them. In a result without an id media begin a result, and
/// text does not.
[[nodiscard]] inline bool is_item_set_in_place(const ordered_json& result, std::span<const Slot> slots,
                                               const Slot& slot) {
    const BlockKind kind = kind_of_item(result["content"][slot.item]);
    if (kind != BlockKind::media) return kind == BlockKind::text;
    return !find_string(result, "tool_use_id").value_or("").empty() && !shows_empty_text(slots, slot.block);
}

/// Whether setting the text at `slot`, one of `slots`, leaves every other part as and where it is.
[[nodiscard]] inline bool is_set_in_place(const ordered_json& m, std::span<const Slot> slots, const Slot& slot) {
    if (slot.place == Place::content_string || slot.place == Place::result_string) return true;
    if (slot.place != Place::block && slot.place != Place::result_item) return false;
    const ordered_json& block = m["content"][slot.block];
    if (slot.place == Place::result_item) return is_item_set_in_place(block, slots, slot);
    const BlockKind kind = kind_of_block(block);
    return kind == BlockKind::text || kind == BlockKind::media || kind == BlockKind::tool_use;
}

/// Takes these items out of a result, ascending. False, and nothing done, where that would empty it of its texts: it
/// goes as a whole then, since a block that stayed would be an empty result.
[[nodiscard]] inline bool erase_result_items(ordered_json& result, std::span<const std::size_t> gone) {
    ordered_json& items = result["content"];
    if (gone.size() == items.size() && kind_of_item(items[0]) == BlockKind::text) return false;
    whittle::detail::erase_elements(items, gone);
    return true;
}

/// Beside media and opaque items there is nothing to take away.
[[nodiscard]] inline bool has_empty_part(const ordered_json& result) {
    const ordered_json* inside = find_member(result, "content");
    return inside == nullptr || inside->empty();
}

/// Takes parts out of the array "content", from the last to the first. Blocks that go as a whole do so at the end, so
/// that every slot stays true until then.
class BlockEraser {
public:
    explicit BlockEraser(ordered_json& content) : content_(content) {}

    /// `is_last_of_block`: no other part of its block is to go after it.
    void erase(const Slot& slot, bool is_last_of_block) {
        if (!blocks_.empty() && blocks_.back() == slot.block) return;  // went with a part behind it
        ordered_json& block = content_[slot.block];
        if (slot.place == Place::result_other) {
            block.erase("content");
        } else if (slot.place == Place::result_item) {
            items_.push_back(slot.item);
            if (is_last_of_block && !erase_items(block)) blocks_.push_back(slot.block);
        } else if (slot.place != Place::empty_result || has_empty_part(block)) {
            blocks_.push_back(slot.block);
        }
    }
    void finish() {
        std::ranges::reverse(blocks_);
        whittle::detail::erase_elements(content_, blocks_);
    }

private:
    [[nodiscard]] bool erase_items(ordered_json& result) {
        std::ranges::reverse(items_);
        const bool is_left = erase_result_items(result, items_);
        items_.clear();
        return is_left;
    }

    ordered_json& content_;
    std::vector<std::size_t> blocks_{};  // that go, descending
    std::vector<std::size_t> items_{};   // of one result that go, descending
};

/// `parts`: ascending, each once. An emptied message has content [], which holds no part.
inline void erase_parts(ordered_json& m, std::span<const Slot> slots, std::span<const std::size_t> parts) {
    ordered_json& content = m["content"];
    if (!content.is_array()) {
        if (!parts.empty()) content = ordered_json::array();
        return;
    }
    BlockEraser eraser(content);
    for (std::size_t i = parts.size(); i-- > 0;) {
        const Slot& slot = slots[parts[i]];
        eraser.erase(slot, i == 0 || slots[parts[i - 1]].block != slot.block);
    }
    eraser.finish();
}

inline void rename_call(ordered_json& m, std::size_t part, const Slot& slot, std::string_view call_id,
                        std::string_view tool) {
    const bool is_outside = slot.place == Place::content_string || slot.place == Place::content_other;
    const BlockKind kind = is_outside ? BlockKind::text : kind_of_block(m["content"][slot.block]);
    if (kind != BlockKind::tool_use && kind != BlockKind::tool_result) {
        throw Error(Errc::invalid_argument,
                    "rename the call of part " + std::to_string(part) + ": it is neither call nor result");
    }
    ordered_json& block = m["content"][slot.block];
    block[kind == BlockKind::tool_use ? "id" : "tool_use_id"] = to_valid_utf8(call_id);
    if (kind == BlockKind::tool_use && !tool.empty()) block["name"] = to_valid_utf8(tool);
}

}  // namespace whittle::inline v0::anthropic::detail

namespace whittle::inline v0::anthropic {
class Message;
}  // namespace whittle::inline v0::anthropic

namespace whittle::inline v0::detail {

template <>
struct ProviderFormat<anthropic::Message> {
    using Slot = anthropic::detail::Slot;
    static constexpr std::string_view name = "Anthropic message";
    static constexpr auto& role_of = anthropic::detail::role_of;
    static constexpr auto& reason_not_a_message = anthropic::detail::reason_not_a_message;
    template <typename Visit>
    static void visit_slots(const ordered_json& m, const Visit& visit) {
        anthropic::detail::visit_slots(m, visit);
    }
    static constexpr auto& view_slot = anthropic::detail::view_slot;
    static constexpr auto& set_text = anthropic::detail::set_text;
    static constexpr auto& is_set_in_place = anthropic::detail::is_set_in_place;
    static constexpr auto& erase_parts = anthropic::detail::erase_parts;
    static constexpr auto& rename_call = anthropic::detail::rename_call;
};

}  // namespace whittle::inline v0::detail
