#include "whittle/chain/stored_parts.hpp"
#include "../base/base64.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace whittle::inline v0 {

namespace {

/// A string as JSON; one that is no UTF-8 as {"base64": ...}, so that nothing is lost.
nlohmann::ordered_json to_json(const std::string& text) {
    if (is_valid_utf8(text)) return text;
    return {{"base64", to_base64(text)}};
}

nlohmann::ordered_json to_json(const Part& part) {
    nlohmann::ordered_json json{{"type", part.kind == PartKind::media ? "media" : "text"}};
    if (part.kind != PartKind::media) {
        json["text"] = to_json(part.text);
        return json;
    }
    json["mime"] = part.media.mime;
    if (!part.media.url.empty()) json["url"] = to_json(part.media.url);
    if (!part.media.bytes.empty()) json["bytes"] = to_json(part.media.bytes);
    if (part.media.width > 0) json["width"] = part.media.width;
    if (part.media.height > 0) json["height"] = part.media.height;
    return json;
}

}  // namespace

std::string offload_content(std::span<const Part> parts) {
    if (parts.size() == 1 && parts.front().kind != PartKind::media) return parts.front().text;
    nlohmann::ordered_json array = nlohmann::ordered_json::array();
    for (const Part& part : parts) array.push_back(to_json(part));
    return array.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string text_in_content(std::string_view content, std::size_t element) {
    const auto damaged = [&](std::string_view why) {
        return Error(Errc::damaged, fmt::format("read element {} of a stored result: {}", element, why));
    };
    const auto json = nlohmann::ordered_json::parse(content, nullptr, false);
    if (!json.is_array() || element >= json.size()) throw damaged("the object is no JSON array that long");
    const auto text = json[element].find("text");
    if (text == json[element].end()) throw damaged("it is no text");
    if (text->is_string()) return text->get<std::string>();
    const auto base64 = text->find("base64");
    if (!text->is_object() || base64 == text->end() || !base64->is_string()) throw damaged("it is no text");
    const auto bytes = from_base64(base64->get_ref<const std::string&>());
    if (!bytes) throw damaged("its base64 is damaged");
    return *bytes;
}

}  // namespace whittle::inline v0
