#include "whittle/conversation/detail/stored_parts.hpp"
#include "../base/base64.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace whittle::inline v0 {

namespace {

/// A string as JSON; one that is no UTF-8 as {"base64": ...}, so that nothing is lost.
nlohmann::ordered_json content_of(const std::string& text) {
    if (is_valid_utf8(text)) return text;
    return {{"base64", to_base64(text)}};
}

nlohmann::ordered_json content_of(const Part& part) {
    nlohmann::ordered_json json{{"type", part.kind == PartKind::media ? "media" : "text"}};
    if (part.kind != PartKind::media) {
        json["text"] = content_of(part.text);
        return json;
    }
    json["mime"] = part.media.mime;
    if (!part.media.url.empty()) json["url"] = content_of(part.media.url);
    if (!part.media.bytes.empty()) json["bytes"] = content_of(part.media.bytes);
    if (part.media.width > 0) json["width"] = part.media.width;
    if (part.media.height > 0) json["height"] = part.media.height;
    return json;
}

}  // namespace

std::string offload_content(std::span<const Part> parts) {
    if (parts.size() == 1 && parts.front().kind != PartKind::media) return parts.front().text;
    nlohmann::ordered_json array = nlohmann::ordered_json::array();
    for (const Part& part : parts) array.push_back(content_of(part));
    return array.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

namespace {

/// The text of an element, or nothing if it has none; base64 that is damaged is none.
std::optional<std::string> text_in(const nlohmann::ordered_json& element) {
    const auto text = element.find("text");
    if (text == element.end()) return std::nullopt;
    if (text->is_string()) return text->get<std::string>();
    if (!text->is_object()) return std::nullopt;
    const auto base64 = text->find("base64");
    if (base64 == text->end() || !base64->is_string()) return std::nullopt;
    return from_base64(base64->get_ref<const std::string&>());
}

}  // namespace

StoredContent::StoredContent(std::string_view content) {
    const auto json = nlohmann::ordered_json::parse(content, nullptr, false);
    if (!json.is_array()) return;
    texts_.reserve(json.size());
    for (const nlohmann::ordered_json& element : json) texts_.push_back(text_in(element));
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
