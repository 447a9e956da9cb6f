#include "whittle/pruning/fetch_media.hpp"

#include "../conversation/read_back.hpp"
#include "whittle/base/detail/base64.hpp"
#include "whittle/base/detail/json.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

namespace {

using detail::JsonValue;

constexpr std::string_view reference_scheme = "ref://";

Error damaged_media(std::string_view key, std::string_view why) {
    return Error(Errc::damaged, fmt::format("read media \"{}\": {}", key, why));
}

std::string parse_reference(std::string_view arguments) {
    const JsonValue json = detail::parse_json(arguments);
    const std::string* const reference = json.find_string("reference");
    if (reference == nullptr)
        throw Error(Errc::invalid_argument, "\"reference\": a string is required, such as ref://...");
    return *reference;
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
std::string text_of_json(const JsonValue& json, std::string_view name, std::string_view key) {
    const auto found = json.find(name);
    if (!found) return {};
    if (const std::string* const text = found->string()) return *text;
    const std::string* const base64 = found->find_string("base64");
    if (base64 == nullptr) throw damaged_media(key, fmt::format("\"{}\" is no text", name));
    auto bytes = from_base64(*base64);
    if (!bytes) throw damaged_media(key, "its base64 is damaged");
    return *std::move(bytes);
}

int pixels_of_json(const JsonValue& json, std::string_view name) {
    const auto found = json.find(name);
    return found ? static_cast<int>(found->integer().value_or(0)) : 0;
}

Part part_of_json(const JsonValue& json, std::string_view key) {
    return {.kind = PartKind::media,
            .media = {.mime = text_of_json(json, "mime", key),
                      .bytes = text_of_json(json, "bytes", key),
                      .url = text_of_json(json, "url", key),
                      .width = pixels_of_json(json, "width"),
                      .height = pixels_of_json(json, "height")}};
}

bool is_media(const JsonValue& json) {
    const std::string* const type = json.find_string("type");
    return type != nullptr && *type == "media";
}

/// All media of a stored object: of one that stands for media, or of a whole result that had some.
std::vector<Part> media_in(std::string_view content, std::string_view key) {
    const JsonValue json = detail::parse_json(content);
    std::vector<Part> media;
    if (json.is_array()) {
        for (const JsonValue& element : json.values())
            if (is_media(element)) media.push_back(part_of_json(element, key));
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
        std::vector<Part> media = media_in(read_whole(object, options.max_stored_bytes), object.key);
        const std::string note = detail::note_on_masks(object, context.language);
        out.write(fmt::format("{}{}{}{}", reference_scheme, object.key, note.empty() ? "" : " ", note));
        for (Part& part : media) show(std::move(part), out);
        detail::emit_read_back(context, fetch_media_name, fmt::format("fetched {}", object.key));
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
    if (options.max_stored_bytes < 1)
        problems.error("max_stored_bytes", std::to_string(options.max_stored_bytes), "1 or more");
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
