#include "whittle/conversation/detail/stored_parts.hpp"
#include "whittle/base/detail/base64.hpp"
#include "whittle/base/detail/json.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"

#include <fmt/format.h>

namespace whittle::inline v0 {

namespace {

void write_part(detail::JsonWriter& json, const Part& part) {
    json.open_object();
    json.member("type", part.kind == PartKind::media ? "media" : "text");
    if (part.kind != PartKind::media) {
        json.bytes_member("text", part.text);
    } else {
        json.member("mime", part.media.mime);
        if (!part.media.url.empty()) json.bytes_member("url", part.media.url);
        if (!part.media.bytes.empty()) json.bytes_member("bytes", part.media.bytes);
        if (part.media.width > 0) json.member("width", part.media.width);
        if (part.media.height > 0) json.member("height", part.media.height);
    }
    json.close_object();
}

}  // namespace

std::string offload_content(std::span<const Part> parts) {
    if (parts.size() == 1 && parts.front().kind != PartKind::media) return parts.front().text;
    detail::JsonWriter array;
    array.open_array();
    for (const Part& part : parts) write_part(array, part);
    array.close_array();
    return array.take();
}

namespace {

/// The text of an element, or nothing if it has none; base64 that is damaged is none.
std::optional<std::string> text_in(const detail::JsonValue& element) {
    const auto text = element.find("text");
    if (!text) return std::nullopt;
    if (const std::string* const plain = text->string()) return *plain;
    const std::string* const base64 = text->find_string("base64");
    return base64 != nullptr ? from_base64(*base64) : std::nullopt;
}

}  // namespace

StoredContent::StoredContent(std::string_view content) {
    const detail::JsonValue json = detail::parse_json(content);
    if (!json.is_array()) return;
    texts_.reserve(json.size());
    for (const detail::JsonValue& element : json.values()) texts_.push_back(text_in(element));
}

std::string StoredContent::text(std::size_t element) const {
    const auto damaged = [&](std::string_view why) {
        return Error(Errc::damaged, fmt::format("read element {} of a stored result: {}", element, why));
    };
    if (element >= texts_.size()) throw damaged("the object is no JSON array that long");
    if (!texts_[element]) throw damaged("it is no text, or its base64 is damaged");
    return *texts_[element];
}

std::string text_in_content(std::string_view content, std::size_t element) {
    return StoredContent(content).text(element);
}

}  // namespace whittle::inline v0
