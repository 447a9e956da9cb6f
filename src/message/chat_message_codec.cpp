#include "../base/base64.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"
#include "whittle/message/chat_message.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <limits>
#include <utility>

namespace whittle::inline v0 {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array roles{Role::system, Role::user, Role::assistant, Role::tool};
constexpr std::array part_kinds{PartKind::text,        PartKind::thinking, PartKind::tool_call,
                                PartKind::tool_result, PartKind::media,    PartKind::other};

// Writing: a field that has its default value is left out.

Json json_of(const std::string& text) {
    if (is_valid_utf8(text)) return text;
    return Json{{"base64", to_base64(text)}};
}

template <typename T>
void put(Json& json, const char* name, const T& value) {
    if (value != T{}) json[name] = value;
}

void put(Json& json, const char* name, const std::string& value) {
    if (!value.empty()) json[name] = json_of(value);
}

Json json_of(const Media& media) {
    Json json = Json::object();
    put(json, "mime", media.mime);
    put(json, "bytes", media.bytes);
    put(json, "url", media.url);
    put(json, "width", media.width);
    put(json, "height", media.height);
    return json;
}

Json json_of(const Part& part) {
    Json json{{"kind", name_of(part.kind)}};
    put(json, "text", part.text);
    put(json, "call_id", part.call_id);
    put(json, "tool", part.tool);
    if (part.media != Media{}) json["media"] = json_of(part.media);
    put(json, "is_error", part.is_error);
    return json;
}

Json json_of(const Usage& usage) {
    Json json = Json::object();
    put(json, "input", usage.input);
    put(json, "cache_read", usage.cache_read);
    put(json, "cache_write", usage.cache_write);
    put(json, "output", usage.output);
    return json;
}

// Reading: every field must be known and of its type.

void read(const Json& json, Media& media, const std::string& where);
void read(const Json& json, Usage& usage, const std::string& where);
void read(const Json& json, std::vector<Part>& parts, const std::string& where);

[[noreturn]] void fail(std::string_view where, std::string_view reason) {
    throw Error(Errc::parse_failed, fmt::format("read a chat message: {}: {}", where, reason));
}

void read(const Json& json, std::string& value, const std::string& where) {
    if (json.is_string()) {
        value = json.get<std::string>();
        return;
    }
    if (!json.is_object() || json.size() != 1 || !json.contains("base64") || !json["base64"].is_string()) {
        fail(where, R"(not a string or {"base64": string})");
    }
    std::optional<std::string> bytes = from_base64(json["base64"].get_ref<const std::string&>());
    if (!bytes) fail(where, "not base64");
    value = std::move(*bytes);
}

void read(const Json& json, bool& value, const std::string& where) {
    if (!json.is_boolean()) fail(where, "not true or false");
    value = json.get<bool>();
}

template <typename Integer>
void read_integer(const Json& json, Integer& value, const std::string& where) {
    using Limits = std::numeric_limits<Integer>;
    const bool fits = json.is_number_unsigned() ? json.get<std::uint64_t>() <= static_cast<std::uint64_t>(Limits::max())
                                                : json.is_number_integer() && json.get<std::int64_t>() >= Limits::min();
    if (!fits) fail(where, "not an integer in range");
    value = json.get<Integer>();
}

void read(const Json& json, int& value, const std::string& where) { read_integer(json, value, where); }
void read(const Json& json, std::int64_t& value, const std::string& where) { read_integer(json, value, where); }

template <typename Enum, std::size_t N>
void read_name(const Json& json, Enum& value, const std::array<Enum, N>& known, const std::string& where) {
    if (!json.is_string()) fail(where, "not a string");
    for (const Enum candidate : known) {
        if (json.get_ref<const std::string&>() != name_of(candidate)) continue;
        value = candidate;
        return;
    }
    fail(where, "not a known word");
}

void read(const Json& json, Role& value, const std::string& where) { read_name(json, value, roles, where); }
void read(const Json& json, PartKind& value, const std::string& where) { read_name(json, value, part_kinds, where); }

/// Calls `field(name, value, where)` for each member; it returns false for a name that it does not know.
template <typename Field>
void read_fields(const Json& json, const std::string& where, Field&& field) {
    if (!json.is_object()) fail(where, "not an object");
    for (const auto& [name, value] : json.items()) {
        const std::string place = where + "." + name;
        if (!field(std::string_view(name), value, place)) fail(place, "unknown field");
    }
}

template <typename T>
bool take(const Json& json, T& target, const std::string& where) {
    read(json, target, where);
    return true;
}

void read(const Json& json, Media& media, const std::string& where) {
    read_fields(json, where, [&](std::string_view name, const Json& value, const std::string& place) {
        if (name == "mime") return take(value, media.mime, place);
        if (name == "bytes") return take(value, media.bytes, place);
        if (name == "url") return take(value, media.url, place);
        if (name == "width") return take(value, media.width, place);
        if (name == "height") return take(value, media.height, place);
        return false;
    });
}

void read(const Json& json, Part& part, const std::string& where) {
    read_fields(json, where, [&](std::string_view name, const Json& value, const std::string& place) {
        if (name == "kind") return take(value, part.kind, place);
        if (name == "text") return take(value, part.text, place);
        if (name == "call_id") return take(value, part.call_id, place);
        if (name == "tool") return take(value, part.tool, place);
        if (name == "media") return take(value, part.media, place);
        if (name == "is_error") return take(value, part.is_error, place);
        return false;
    });
    if (!json.contains("kind")) fail(where, "has no kind");
}

void read(const Json& json, Usage& usage, const std::string& where) {
    read_fields(json, where, [&](std::string_view name, const Json& value, const std::string& place) {
        if (name == "input") return take(value, usage.input, place);
        if (name == "cache_read") return take(value, usage.cache_read, place);
        if (name == "cache_write") return take(value, usage.cache_write, place);
        if (name == "output") return take(value, usage.output, place);
        return false;
    });
}

void read(const Json& json, std::vector<Part>& parts, const std::string& where) {
    if (!json.is_array()) fail(where, "not an array");
    for (const Json& element : json) {
        const std::string place = fmt::format("{}[{}]", where, parts.size());
        read(element, parts.emplace_back(), place);
    }
}

void read(const Json& json, ChatMessage& message, const std::string& where) {
    read_fields(json, where, [&](std::string_view name, const Json& value, const std::string& place) {
        if (name == "role") return take(value, message.role, place);
        if (name == "parts") return take(value, message.parts, place);
        if (name == "id") return take(value, message.id, place);
        if (name == "usage") return take(value, message.usage.emplace(), place);
        return false;
    });
    if (!json.contains("role") || !json.contains("parts")) fail(where, "has no role or no parts");
}

Json parse(std::string_view bytes) {
    const std::size_t zero = bytes.find('\0');  // the parser would take it for the end
    if (zero != std::string_view::npos) fail(fmt::format("offset {}", zero), "a zero byte");
    try {
        return Json::parse(bytes.begin(), bytes.end());
    } catch (const Json::parse_error& error) {
        fail(fmt::format("offset {}", error.byte == 0 ? 0 : error.byte - 1), "not JSON");
    } catch (const Json::exception&) {
        fail("offset 0", "a number is out of range");
    }
}

}  // namespace

std::string message_traits<ChatMessage>::to_bytes(const ChatMessage& m) {
    Json json{{"role", name_of(m.role)}};
    json["parts"] = Json::array();
    for (const Part& part : m.parts) json["parts"].push_back(json_of(part));
    put(json, "id", m.id);
    if (m.usage) json["usage"] = json_of(*m.usage);
    return json.dump();
}

ChatMessage message_traits<ChatMessage>::from_bytes(std::string_view bytes) {
    ChatMessage message;
    read(parse(bytes), message, "message");
    return message;
}

}  // namespace whittle::inline v0
