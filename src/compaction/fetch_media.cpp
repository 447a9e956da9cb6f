#include "whittle/compaction/fetch_media.hpp"

#include "../base/base64.hpp"
#include "../conversation/read_back.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

namespace {

using nlohmann::ordered_json;

constexpr std::string_view reference_scheme = "ref://";

Error damaged_media(std::string_view key, std::string_view why) {
    return Error(Errc::damaged, fmt::format("read media \"{}\": {}", key, why));
}

std::string parse_reference(std::string_view arguments) {
    const ordered_json json = ordered_json::parse(arguments, nullptr, false);
    const auto found = json.is_object() ? json.find("reference") : json.end();
    if (!json.is_object() || found == json.end() || !found->is_string())
        throw Error(Errc::invalid_argument, "\"reference\": a string is required, such as ref://...");
    return found->get<std::string>();
}

StoredObject find_media_object(const ToolContext& context, const std::shared_ptr<Storage>& storage,
                               std::string_view reference) {
    const auto fallback = storage ? storage : context.storage;
    auto object = detail::find_copied(context, fallback, reference);
    if (!object || !object->storage) {
        throw Error(Errc::not_found,
                    "\"reference\": it names nothing that was stored of this conversation; use one "
                    "exactly as a placeholder gives it, such as ref://...");
    }
    return *std::move(object);
}

std::string read_whole(const StoredObject& object, std::int64_t max_bytes) {
    const auto info = object.storage->stat(object.key);
    if (info && info->bytes > max_bytes) {
        throw Error(Errc::limit_exceeded, fmt::format("read media \"{}\": it has {} bytes, the limit is {}", object.key,
                                                      info->bytes, max_bytes));
    }
    auto content = object.storage->get(object.key);
    if (!content)
        throw Error(Errc::not_found, fmt::format("read media \"{}\": the object is no longer stored", object.key));
    return *std::move(content);
}

/// A string as `offload_content` writes it: itself, or {"base64": ...}.
std::string text_of_json(const ordered_json& json, std::string_view name, std::string_view key) {
    const auto found = json.find(name);
    if (found == json.end()) return {};
    if (found->is_string()) return found->get<std::string>();
    const auto base64 = found->find("base64");
    if (!found->is_object() || base64 == found->end() || !base64->is_string())
        throw damaged_media(key, fmt::format("\"{}\" is no text", name));
    auto bytes = from_base64(base64->get_ref<const std::string&>());
    if (!bytes) throw damaged_media(key, "its base64 is damaged");
    return *std::move(bytes);
}

int pixels_of_json(const ordered_json& json, std::string_view name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_number_integer() ? found->get<int>() : 0;
}

Part part_of_json(const ordered_json& json, std::string_view key) {
    return {.kind = PartKind::media,
            .media = {.mime = text_of_json(json, "mime", key),
                      .bytes = text_of_json(json, "bytes", key),
                      .url = text_of_json(json, "url", key),
                      .width = pixels_of_json(json, "width"),
                      .height = pixels_of_json(json, "height")}};
}

bool is_media(const ordered_json& json) {
    const auto type = json.is_object() ? json.find("type") : json.end();
    return json.is_object() && type != json.end() && *type == "media";
}

/// All media of a stored object: of one that stands for media, or of a whole result that had some.
std::vector<Part> media_in(std::string_view content, std::string_view key) {
    const ordered_json json = ordered_json::parse(content, nullptr, false);
    std::vector<Part> media;
    for (std::size_t i = 0; json.is_array() && i < json.size(); ++i) {
        if (is_media(json[i])) media.push_back(part_of_json(json[i], key));
    }
    if (!media.empty()) return media;
    throw Error(Errc::invalid_argument,
                fmt::format("\"reference\": {} holds no media; read its text with read_offloaded", key));
}

/// A file that lies with the provider under an id of which nobody knows what it is can only be named.
void show(Part part, PartSink& out) {
    const Media& media = part.media;
    const bool is_id =
        !media.url.empty() && !media.url.starts_with("data:") && media.url.find("://") == std::string::npos;
    if (is_id && media.mime.empty()) return out.write(" " + media.url);
    out.push(std::move(part));
}

ToolOutcome fetch_media(const ToolContext& context, PartSink& out, const std::shared_ptr<Storage>& storage,
                        const FetchMediaOptions& options) {
    ToolOutcome outcome;
    const auto problem = detail::problem_of([&] {
        const StoredObject object = find_media_object(context, storage, parse_reference(context.arguments));
        std::vector<Part> media = media_in(read_whole(object, options.max_bytes), object.key);
        out.write(fmt::format("{}{}", reference_scheme, object.key));
        for (Part& part : media) show(std::move(part), out);
        detail::tell_read_back(context, fetch_media_name, fmt::format("fetched {}", object.key));
        outcome.read_back = {object.key};
    });
    if (!problem) return outcome;
    out.write(fmt::format("{}: {}", fetch_media_name, to_valid_utf8(*problem)));
    return {.is_error = true};
}

std::string_view fetch_media_description(Language language) {
    if (language == Language::chinese)
        return "取回本会话中被移出的图片或其他媒体。reference 如 [图片: ref://...] 所示。";
    return "Brings back an image or other media that was moved out of this conversation. reference: as in "
           "[image: ref://...].";
}

constexpr std::string_view fetch_media_parameters =
    R"({"type":"object","properties":{"reference":{"type":"string"}},"required":["reference"]})";

}  // namespace

Tool fetch_media_tool(std::shared_ptr<Storage> storage, const FetchMediaOptions& options) {
    Problems problems;
    if (options.max_bytes < 1) problems.error("max_bytes", std::to_string(options.max_bytes), "1 or more");
    problems.throw_if_errors("make fetch_media");
    return {.name = std::string(fetch_media_name),
            .description = std::string(fetch_media_description(options.language.value_or(default_language()))),
            .parameters = std::string(fetch_media_parameters),
            .return_direct = false,
            .invoke = [storage = std::move(storage), options](const ToolContext& context, PartSink& out) {
                return fetch_media(context, out, storage, options);
            }};
}

std::vector<Tool> detail::media_tools(const ChainConfig& chain) {
    if (!chain.storage) return {};
    return {fetch_media_tool(nullptr, {.language = chain.language})};
}

}  // namespace whittle::inline v0
