#pragma once

#include "whittle/base/text.hpp"
#include "whittle/message/part.hpp"
#include "whittle/provider/detail/json_message.hpp"
#include "whittle/provider/detail/json_text.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>

/// Tool results and media as blocks of the Messages API.
namespace whittle::inline v0::anthropic::detail {

using nlohmann::ordered_json;
using whittle::detail::find_string;
using whittle::detail::text_item;

/// The only image types that the API takes as bytes (types of @anthropic-ai/sdk 1.12.0).
[[nodiscard]] inline bool is_image_type(std::string_view mime) noexcept {
    constexpr std::array<std::string_view, 4> types{"image/jpeg", "image/png", "image/gif", "image/webp"};
    return std::ranges::find(types, mime) != types.end();
}

[[nodiscard]] inline ordered_json media_block(std::string_view type, ordered_json source) {
    return {{"type", std::string(type)}, {"source", std::move(source)}};
}

/// What the format has no block for is named in a text.
[[nodiscard]] inline ordered_json named_media(std::string_view mime, std::string_view what) {
    return text_item("[" + to_valid_utf8(mime) + ": " + to_valid_utf8(what) + "]");
}

[[nodiscard]] inline ordered_json block_of_base64(const std::string& mime, std::string_view base64) {
    if (!is_image_type(mime) && mime != "application/pdf") {
        return named_media(mime, std::to_string(base64.size() / 4 * 3) + " bytes that this format cannot hold");
    }
    ordered_json source{{"type", "base64"}, {"media_type", mime}, {"data", std::string(base64)}};
    return media_block(is_image_type(mime) ? "image" : "document", std::move(source));
}

/// `url`: of the web, or the id of an uploaded file.
[[nodiscard]] inline ordered_json block_of_url(const std::string& mime, const std::string& url) {
    const bool is_image = mime.empty() || mime.starts_with("image/");
    if (!is_image && !mime.starts_with("application/")) return named_media(mime, url);
    const std::string_view type = is_image ? "image" : "document";
    if (url.find("://") != std::string::npos) return media_block(type, {{"type", "url"}, {"url", url}});
    return media_block(type, {{"type", "file"}, {"file_id", url}});
}

[[nodiscard]] inline ordered_json block_of_text(std::string text) {
    return media_block("document", {{"type", "text"}, {"media_type", "text/plain"}, {"data", std::move(text)}});
}

[[nodiscard]] inline ordered_json block_of_media(const Media& media) {
    const std::string mime = to_valid_utf8(media.mime);
    if (!media.url.empty()) {
        const std::string url = to_valid_utf8(media.url);
        const auto base64 = whittle::detail::base64_of_data_url(url);
        if (!base64) return block_of_url(mime, url);
        return block_of_base64(std::string(whittle::detail::mime_of_data_url(url)), *base64);
    }
    if (mime.starts_with("text/") && is_valid_utf8(media.bytes)) return block_of_text(media.bytes);
    return block_of_base64(mime, whittle::detail::base64_encode(media.bytes));
}

/// A result as blocks: its own, and what that may not hold.
struct ResultBlocks {
    ordered_json result = ordered_json::object();
    ordered_json separate = ordered_json::array();
};

/// A failed tool's result may hold only text. Media that the format cannot hold are named beside the result, so that
/// its texts are the tool's own.
[[nodiscard]] inline bool is_held_inside(const ToolResult& result, const ordered_json& medium) {
    return !result.is_error && medium["type"] != "text";
}

[[nodiscard]] inline bool is_blank_text(const ordered_json& item) {
    return find_string(item, "type") == "text" && is_blank(find_string(item, "text").value_or(""));
}

/// A lone text is a string, which may be blank; the format has no blank text blocks.
[[nodiscard]] inline ordered_json content_of(const ordered_json& items) {
    if (items.size() == 1 && items[0]["type"] == "text") return items[0]["text"];
    ordered_json shown = ordered_json::array();
    std::ranges::remove_copy_if(items, std::back_inserter(shown), is_blank_text);
    if (shown.empty()) return "";
    if (shown.size() == 1 && shown[0]["type"] == "text") return std::move(shown[0]["text"]);
    return shown;
}

[[nodiscard]] inline ResultBlocks blocks_of(const ToolResult& result) {
    ResultBlocks blocks;
    ordered_json items = ordered_json::array();
    for (const Part& part : result.parts) {
        if (part.kind != PartKind::media) {
            if (!part.text.empty()) items.push_back(text_item(to_valid_utf8(part.text)));
            continue;
        }
        ordered_json medium = block_of_media(part.media);
        (is_held_inside(result, medium) ? items : blocks.separate).push_back(std::move(medium));
    }
    blocks.result = {
        {"type", "tool_result"}, {"tool_use_id", to_valid_utf8(result.call_id)}, {"content", content_of(items)}};
    if (result.is_error) blocks.result["is_error"] = true;
    return blocks;
}

/// The content of the user message that answers a turn: results first.
[[nodiscard]] inline ordered_json results_content(std::span<const ToolResult> results) {
    ordered_json content = ordered_json::array();
    ordered_json behind = ordered_json::array();
    for (const ToolResult& result : results) {
        ResultBlocks blocks = blocks_of(result);
        content.push_back(std::move(blocks.result));
        if (!blocks.separate.empty())
            behind.push_back(text_item("[media of tool result " + to_valid_utf8(result.call_id) + "]"));
        for (ordered_json& block : blocks.separate) behind.push_back(std::move(block));
    }
    for (ordered_json& block : behind) content.push_back(std::move(block));
    return content;
}

}  // namespace whittle::inline v0::anthropic::detail
