#include "whittle/base/detail/base64.hpp"
#include "whittle/base/detail/json.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"
#include "whittle/message/chat_message.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace whittle::inline v0 {
namespace {

using detail::JsonValue;
using detail::JsonWriter;

constexpr std::array roles{Role::system, Role::user, Role::assistant, Role::tool};
constexpr std::array part_kinds{PartKind::text,        PartKind::thinking, PartKind::tool_call,
                                PartKind::tool_result, PartKind::media,    PartKind::other};

// Writing: a field that has its default value is left out.

template <typename T>
void put(JsonWriter& json, std::string_view name, const T& value) {
    if (value != T{}) json.member(name, value);
}

void put(JsonWriter& json, std::string_view name, const std::string& value) {
    if (!value.empty()) json.bytes_member(name, value);
}

void write(JsonWriter& json, const Media& media) {
    json.open_object();
    put(json, "mime", media.mime);
    put(json, "bytes", media.bytes);
    put(json, "url", media.url);
    put(json, "width", media.width);
    put(json, "height", media.height);
    json.close_object();
}

void write(JsonWriter& json, const Part& part) {
    json.open_object();
    json.member("kind", to_string(part.kind));
    put(json, "text", part.text);
    put(json, "call_id", part.call_id);
    put(json, "tool", part.tool);
    if (part.media != Media{}) {
        json.name("media");
        write(json, part.media);
    }
    put(json, "is_error", part.is_error);
    json.close_object();
}

void write(JsonWriter& json, const Usage& usage) {
    json.open_object();
    put(json, "input", usage.uncached_input);
    put(json, "cache_read", usage.cache_read);
    put(json, "cache_write", usage.cache_write);
    put(json, "output", usage.output);
    put(json, "cache_write_5m", usage.cache_write_5m);
    put(json, "cache_write_1h", usage.cache_write_1h);
    json.close_object();
}

// Reading: every field must be known and of its type.

void read(const JsonValue& json, Media& media, const std::string& where);
void read(const JsonValue& json, Usage& usage, const std::string& where);
void read(const JsonValue& json, std::vector<Part>& parts, const std::string& where);

[[noreturn]] void fail(std::string_view where, std::string_view reason) {
    throw Error(Errc::parse_failed, fmt::format("read a chat message: {}: {}", where, reason));
}

void read(const JsonValue& json, std::string& value, const std::string& where) {
    if (const std::string* const text = json.string()) {
        value = *text;
        return;
    }
    const std::string* const base64 = json.find_string("base64");
    if (base64 == nullptr || json.size() != 1) fail(where, R"(not a string or {"base64": string})");
    std::optional<std::string> bytes = from_base64(*base64);
    if (!bytes) fail(where, "not base64");
    value = std::move(*bytes);
}

void read(const JsonValue& json, bool& value, const std::string& where) {
    const std::optional<bool> boolean = json.boolean();
    if (!boolean) fail(where, "not true or false");
    value = *boolean;
}

template <typename Integer>
void read_integer(const JsonValue& json, Integer& value, const std::string& where) {
    const std::optional<std::int64_t> integer = json.integer();
    if (!integer || !std::in_range<Integer>(*integer)) fail(where, "not an integer in range");
    value = static_cast<Integer>(*integer);
}

void read(const JsonValue& json, int& value, const std::string& where) { read_integer(json, value, where); }
void read(const JsonValue& json, std::int64_t& value, const std::string& where) { read_integer(json, value, where); }

template <typename Enum, std::size_t N>
void read_name(const JsonValue& json, Enum& value, const std::array<Enum, N>& known, const std::string& where) {
    const std::string* const name = json.string();
    if (name == nullptr) fail(where, "not a string");
    for (const Enum candidate : known) {
        if (*name != to_string(candidate)) continue;
        value = candidate;
        return;
    }
    fail(where, "not a known word");
}

void read(const JsonValue& json, Role& value, const std::string& where) { read_name(json, value, roles, where); }
void read(const JsonValue& json, PartKind& value, const std::string& where) {
    read_name(json, value, part_kinds, where);
}

/// Calls `field(name, value, where)` for each member; it returns false for a name that it does not know.
template <typename Field>
void read_fields(const JsonValue& json, const std::string& where, Field&& field) {
    if (!json.is_object()) fail(where, "not an object");
    for (const auto& [name, value] : json.members()) {
        const std::string place = fmt::format("{}.{}", where, name);
        if (!field(name, value, place)) fail(place, "unknown field");
    }
}

template <typename T>
bool take(const JsonValue& json, T& target, const std::string& where) {
    read(json, target, where);
    return true;
}

void read(const JsonValue& json, Media& media, const std::string& where) {
    read_fields(json, where, [&](std::string_view name, const JsonValue& value, const std::string& place) {
        if (name == "mime") return take(value, media.mime, place);
        if (name == "bytes") return take(value, media.bytes, place);
        if (name == "url") return take(value, media.url, place);
        if (name == "width") return take(value, media.width, place);
        if (name == "height") return take(value, media.height, place);
        return false;
    });
}

void read(const JsonValue& json, Part& part, const std::string& where) {
    read_fields(json, where, [&](std::string_view name, const JsonValue& value, const std::string& place) {
        if (name == "kind") return take(value, part.kind, place);
        if (name == "text") return take(value, part.text, place);
        if (name == "call_id") return take(value, part.call_id, place);
        if (name == "tool") return take(value, part.tool, place);
        if (name == "media") return take(value, part.media, place);
        if (name == "is_error") return take(value, part.is_error, place);
        return false;
    });
    if (!json.find("kind")) fail(where, "has no kind");
}

void read(const JsonValue& json, Usage& usage, const std::string& where) {
    read_fields(json, where, [&](std::string_view name, const JsonValue& value, const std::string& place) {
        if (name == "input") return take(value, usage.uncached_input, place);
        if (name == "cache_read") return take(value, usage.cache_read, place);
        if (name == "cache_write") return take(value, usage.cache_write, place);
        if (name == "output") return take(value, usage.output, place);
        if (name == "cache_write_5m") return take(value, usage.cache_write_5m, place);
        if (name == "cache_write_1h") return take(value, usage.cache_write_1h, place);
        return false;
    });
}

void read(const JsonValue& json, std::vector<Part>& parts, const std::string& where) {
    if (!json.is_array()) fail(where, "not an array");
    for (const JsonValue& element : json.values()) {
        const std::string place = fmt::format("{}[{}]", where, parts.size());
        read(element, parts.emplace_back(), place);
    }
}

void read(const JsonValue& json, ChatMessage& message, const std::string& where) {
    read_fields(json, where, [&](std::string_view name, const JsonValue& value, const std::string& place) {
        if (name == "role") return take(value, message.role, place);
        if (name == "parts") return take(value, message.parts, place);
        if (name == "id") return take(value, message.host_id, place);
        if (name == "usage") return take(value, message.usage.emplace(), place);
        if (name == "mark_id") return take(value, message.mark_id, place);
        return false;
    });
    if (!json.find("role") || !json.find("parts")) fail(where, "has no role or no parts");
}

}  // namespace

std::string message_traits<ChatMessage>::to_bytes(const ChatMessage& m) {
    JsonWriter json;
    json.open_object();
    json.member("role", to_string(m.role));
    json.name("parts");
    json.open_array();
    for (const Part& part : m.parts) write(json, part);
    json.close_array();
    put(json, "id", m.host_id);
    if (m.usage) {
        json.name("usage");
        write(json, *m.usage);
    }
    put(json, "mark_id", m.mark_id);
    json.close_object();
    return json.take();
}

ChatMessage message_traits<ChatMessage>::from_bytes(std::string_view bytes) {
    ChatMessage message;
    read(detail::require_json(bytes, "read a chat message"), message, "message");
    return message;
}

}  // namespace whittle::inline v0
