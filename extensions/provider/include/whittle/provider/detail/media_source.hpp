#pragma once

#include "whittle/message/part.hpp"
#include "whittle/provider/detail/json_message.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// What the "source" of one of Anthropic's image or document blocks shows; nullopt if it is no medium. Views into
/// `source` or `scratch`, which gets what had to be put together.
[[nodiscard]] inline std::optional<MediaView> media_of_source(const ordered_json& source, std::string_view any_mime,
                                                              std::string& scratch) {
    const auto type = find_string(source, "type").value_or("");
    const auto data = find_string(source, "data");
    const std::string_view mime = find_string(source, "media_type").value_or(any_mime);
    if (type == "base64" && data) {
        scratch = "data:";
        scratch.append(mime).append(";base64,").append(*data);
        return MediaView{.mime = std::string_view(scratch).substr(5, mime.size()), .url = scratch};
    }
    if (type == "text" && data) return MediaView{.mime = mime, .bytes = *data};
    if (const auto url = find_string(source, "url"); type == "url" && url)
        return MediaView{.mime = any_mime, .url = *url};
    if (const auto id = find_string(source, "file_id"); type == "file" && id)
        return MediaView{.mime = any_mime, .url = *id};
    const ordered_json* content = find_member(source, "content");
    if (type != "content" || content == nullptr) return std::nullopt;
    if (content->is_string()) return MediaView{.mime = "text/plain", .bytes = content->get_ref<const std::string&>()};
    scratch = render(*content);
    return MediaView{.mime = "application/json", .bytes = scratch};
}

/// What one of Anthropic's image or document blocks shows; nullopt if it is no medium, or none of these.
[[nodiscard]] inline std::optional<MediaView> media_of_source_block(const ordered_json& block, std::string& scratch) {
    const auto type = find_string(block, "type").value_or("");
    const ordered_json* source = find_member(block, "source");
    if (source == nullptr || (type != "image" && type != "document")) return std::nullopt;
    return media_of_source(*source, type == "image" ? "image/*" : "application/*", scratch);
}

}  // namespace whittle::inline v0::detail
