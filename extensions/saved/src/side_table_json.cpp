#include "whittle/saved/detail/side_table_json.hpp"

#include "whittle/base/detail/base64.hpp"
#include "whittle/base/detail/names.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"
#include "whittle/provider/detail/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace whittle::inline v0::detail {

namespace {

constexpr std::array roles{Role::system, Role::user, Role::assistant, Role::tool};
constexpr std::array kinds{PartKind::text,        PartKind::thinking, PartKind::tool_call,
                           PartKind::tool_result, PartKind::media,    PartKind::other};
constexpr std::array origins{Origin::original,    Origin::summary, Origin::skills, Origin::attachment,
                             Origin::placeholder, Origin::nudge,   Origin::repair, Origin::transient};
constexpr std::array<std::string_view, 2> scopes{"conversation", "run"};

template <typename Enum, std::size_t N>
std::array<std::string_view, N> words_of(const std::array<Enum, N>& values) {
    std::array<std::string_view, N> words;
    std::ranges::transform(values, words.begin(), [](Enum value) { return to_string(value); });
    return words;
}

// A field that has its default value is left out.

template <typename T>
void put(ordered_json& json, const char* name, const T& value) {
    if (value != T{}) json[name] = value;
}

void put(ordered_json& json, const char* name, const std::string& value) {
    if (!value.empty()) json[name] = json_of_bytes(value);
}

void put(ordered_json& json, const char* name, const std::vector<std::string>& values) {
    for (const std::string& value : values) json[name].push_back(json_of_bytes(value));
}

ordered_json json_of(const Provenance& mark) {
    ordered_json json{{"origin", to_string(mark.origin)}};
    put(json, "by", mark.by);
    put(json, "reason", mark.reason);
    put(json, "when", mark.when);
    put(json, "stored", mark.stored_keys);
    put(json, "covers", mark.covers);
    put(json, "level", mark.level);
    put(json, "user_messages", mark.verbatim_user_messages);
    for (const int times : mark.times_beside_results) json["beside_results"].push_back(times);
    put(json, "skills", mark.skill_records);
    put(json, "work", mark.work_state);
    put(json, "facts", mark.retained_facts);
    return json;
}

void put(ordered_json& json, const char* name, const Mark& mark) {
    if (mark) json[name] = json_of(*mark);
}

ordered_json json_of(const PartInfo& part, bool whole) {
    ordered_json json = ordered_json::object();
    if (whole) {
        json["kind"] = to_string(part.kind);
        put(json, "bytes", part.text_bytes);
        put(json, "call_id", part.call_id);
        put(json, "is_error", part.is_error);
        put(json, "starts_result", part.starts_new_result);
        put(json, "is_blank", part.is_blank);
        put(json, "is_invalid_utf8", part.is_invalid_utf8);
        put(json, "has_object_arguments", part.has_object_arguments);
        put(json, "ends_in_space", part.ends_in_space);
        put(json, "is_image", part.is_image);
        put(json, "image_side", part.longer_side_pixels);
        put(json, "media_bytes", part.media_base64_bytes);
    }
    if (whole || part.kind != PartKind::tool_call) put(json, "tool", part.tool);
    put(json, "object_name", part.key_safe_call_id);
    put(json, "mark", part.mark);
    return json;
}

ordered_json json_of(const NoteValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return {{"integer", *integer}};
    if (const auto* text = std::get_if<std::string>(&value)) return {{"text", json_of_bytes(*text)}};
    const double real = std::get<double>(value);
    if (std::isfinite(real)) return {{"real", real}};
    return {{"real", std::isnan(real) ? "nan" : real > 0 ? "inf" : "-inf"}};
}

std::optional<std::int64_t> to_integer(const ordered_json& json) {
    if (json.is_number_unsigned()) {
        const auto value = json.get<std::uint64_t>();
        if (value > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
        return static_cast<std::int64_t>(value);
    }
    if (!json.is_number_integer()) return std::nullopt;
    return json.get<std::int64_t>();
}

std::uint64_t hex_word(std::string_view digits, const std::string& where) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc() || end != digits.data() + digits.size())
        fail_side_table(where, "not 32 hexadecimal digits");
    return value;
}

Mark mark_of(const ordered_json* json, const std::string& where) {
    if (json == nullptr) return nullptr;
    ObjectReader reader(*json, where);
    Provenance mark{.origin = origins[reader.word("origin", words_of(origins))]};
    mark.by = reader.bytes("by");
    mark.reason = reader.bytes("reason");
    mark.when = reader.integer("when", INT64_MIN, INT64_MAX);
    mark.stored_keys = reader.list("stored");
    read_array(reader.find("covers"), reader.place("covers"),
               [&](const ordered_json& element, const std::string& place) {
                   const auto serial = to_integer(element);
                   if (!serial || *serial < 0 || *serial > largest_count) fail_side_table(place, "not a serial number");
                   mark.covers.push_back(static_cast<Serial>(*serial));
               });
    mark.verbatim_user_messages = reader.list("user_messages");
    read_array(reader.find("beside_results"), reader.place("beside_results"),
               [&](const ordered_json& element, const std::string& place) {
                   const auto times = to_integer(element);
                   if (!times || *times < 0 || *times > 2) fail_side_table(place, "neither 0, 1 nor 2");
                   mark.times_beside_results.push_back(static_cast<int>(*times));
               });
    mark.skill_records = reader.list("skills");
    mark.level = reader.small("level");
    mark.work_state = reader.bytes("work");
    mark.retained_facts = reader.bytes("facts");
    reader.done();
    return std::make_shared<const Provenance>(std::move(mark));
}

PartInfo part_of(const ordered_json& json, const std::string& where) {
    ObjectReader reader(json, where);
    PartInfo part;
    if (json.contains("kind")) part.kind = kinds[reader.word("kind", words_of(kinds))];
    part.text_bytes = reader.integer("bytes", 0, largest_count);
    part.call_id = reader.bytes("call_id");
    part.is_error = reader.flag("is_error");
    part.starts_new_result = reader.flag("starts_result");
    part.is_blank = reader.flag("is_blank");
    part.is_invalid_utf8 = reader.flag("is_invalid_utf8");
    part.has_object_arguments = reader.flag("has_object_arguments");
    part.ends_in_space = reader.flag("ends_in_space");
    part.is_image = reader.flag("is_image");
    part.longer_side_pixels = static_cast<int>(reader.integer("image_side", 0, std::numeric_limits<int>::max()));
    part.media_base64_bytes = reader.integer("media_bytes", 0, largest_count);
    part.tool = reader.bytes("tool");
    part.key_safe_call_id = reader.bytes("object_name");
    if (!part.key_safe_call_id.empty() && !is_safe_name(part.key_safe_call_id))
        fail_side_table(reader.place("object_name"), "not a safe name");
    part.mark = mark_of(reader.find("mark"), reader.place("mark"));
    reader.done();
    return part;
}

double real_of(const ordered_json& json, const std::string& where) {
    if (json.is_number()) return json.get<double>();
    if (json == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (json == "inf") return std::numeric_limits<double>::infinity();
    if (json == "-inf") return -std::numeric_limits<double>::infinity();
    fail_side_table(where, "not a number");
}

}  // namespace

ordered_json json_of_bytes(std::string_view bytes) {
    if (is_valid_utf8(bytes)) return bytes;
    return {{"base64", to_base64(bytes)}};
}

ordered_json json_of_info(const MessageInfo& info, bool whole) {
    ordered_json json{{"serial", info.serial}};
    if (whole) json["role"] = to_string(info.role);
    put(json, "group", info.round_serial);
    put(json, "turn", info.turn);
    put(json, "call_index", info.model_calls_before);
    put(json, "pinned", info.pinned);
    json["fingerprint"] = hex_of(info.fingerprint);
    put(json, "mark", info.mark);
    ordered_json parts = ordered_json::array();
    for (const PartInfo& part : info.parts) parts.push_back(json_of(part, whole));
    const bool is_plain = std::ranges::all_of(parts, [](const ordered_json& part) { return part.empty(); });
    if (!is_plain) json["parts"] = std::move(parts);
    return json;
}

ordered_json json_of_notes(const NoteBook& notes) {
    ordered_json json = ordered_json::array();
    for (const auto& [key, note] : notes.all()) {
        ordered_json entry{{"by", json_of_bytes(key.first)}, {"name", json_of_bytes(key.second)}};
        entry.update(json_of(note.value));
        if (note.scope == NoteScope::run) entry["scope"] = scopes[1];
        json.push_back(std::move(entry));
    }
    return json;
}

std::string hex_of(const Hash128& hash) { return fmt::format("{:016x}{:016x}", hash.high, hash.low); }

Hash128 hash_of(std::string_view digits, const std::string& where) {
    if (digits.size() != 32) fail_side_table(where, "not 32 hexadecimal digits");
    return {.low = hex_word(digits.substr(16), where), .high = hex_word(digits.substr(0, 16), where)};
}

void fail_side_table(const std::string& where, std::string_view reason) {
    throw Error(Errc::parse_failed, fmt::format("read a side table: {}: {}", where, reason));
}

std::string bytes_of(const ordered_json& json, const std::string& where) {
    if (json.is_string()) return json.get<std::string>();
    if (!json.is_object() || json.size() != 1 || !json.contains("base64") || !json["base64"].is_string()) {
        fail_side_table(where, R"(not a string or {"base64": string})");
    }
    std::optional<std::string> bytes = from_base64(json["base64"].get_ref<const std::string&>());
    if (!bytes) fail_side_table(where, "not base64");
    return *std::move(bytes);
}

MessageInfo info_of(const ordered_json& json, const std::string& where) {
    ObjectReader reader(json, where);
    MessageInfo info;
    info.serial = reader.serial("serial");
    if (info.serial == 0) fail_side_table(reader.place("serial"), "not a serial number, 1 or more");
    if (json.contains("role")) info.role = roles[reader.word("role", words_of(roles))];
    info.round_serial = reader.serial("group");
    info.turn = reader.small("turn");
    info.model_calls_before = reader.small("call_index");
    info.pinned = reader.flag("pinned");
    info.fingerprint = hash_of(reader.bytes("fingerprint"), reader.place("fingerprint"));
    info.mark = mark_of(reader.find("mark"), reader.place("mark"));
    read_array(reader.find("parts"), reader.place("parts"),
               [&](const ordered_json& part, const std::string& place) { info.parts.push_back(part_of(part, place)); });
    reader.done();
    return info;
}

NoteBook notes_of(const ordered_json& json, const std::string& where) {
    NoteBook notes;
    read_array(&json, where, [&](const ordered_json& element, const std::string& place) {
        ObjectReader reader(element, place);
        Note note;
        const std::string by = reader.bytes("by");
        const std::string name = reader.bytes("name");
        const ordered_json* const real = reader.find("real");
        const ordered_json* const text = reader.find("text");
        const bool has_integer = element.contains("integer");
        if ((real != nullptr) + (text != nullptr) + has_integer != 1)
            fail_side_table(place, "not one of integer, real and text");
        if (has_integer) note.value = reader.integer("integer", INT64_MIN, INT64_MAX);
        if (real != nullptr) note.value = real_of(*real, reader.place("real"));
        if (text != nullptr) note.value = bytes_of(*text, reader.place("text"));
        if (element.contains("scope") && reader.word("scope", scopes) == 1) note.scope = NoteScope::run;
        reader.done();
        notes.set(by, name, std::move(note));
    });
    return notes;
}

ObjectReader::ObjectReader(const ordered_json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json_.is_object()) fail_side_table(where_, "not an object");
}

const ordered_json* ObjectReader::find(const char* name) {
    known_.emplace_back(name);
    const auto at = json_.find(name);
    return at == json_.end() ? nullptr : &*at;
}

const ordered_json& ObjectReader::require(const char* name) {
    const ordered_json* const json = find(name);
    if (json == nullptr) fail_side_table(place(name), "missing");
    return *json;
}

std::int64_t ObjectReader::integer(const char* name, std::int64_t lowest, std::int64_t highest, std::int64_t fallback) {
    const ordered_json* const json = find(name);
    if (json == nullptr) return fallback;
    const auto value = to_integer(*json);
    if (!value || *value < lowest || *value > highest) fail_side_table(place(name), "not an integer in range");
    return *value;
}

double ObjectReader::real(const char* name) {
    const ordered_json* const json = find(name);
    return json == nullptr ? 0.0 : real_of(*json, place(name));
}

bool ObjectReader::flag(const char* name) {
    const ordered_json* const json = find(name);
    if (json == nullptr) return false;
    if (!json->is_boolean()) fail_side_table(place(name), "not true or false");
    return json->get<bool>();
}

std::string ObjectReader::bytes(const char* name) {
    const ordered_json* const json = find(name);
    return json == nullptr ? std::string() : bytes_of(*json, place(name));
}

std::vector<std::string> ObjectReader::list(const char* name) {
    std::vector<std::string> values;
    read_array(find(name), place(name), [&](const ordered_json& element, const std::string& where) {
        values.push_back(bytes_of(element, where));
    });
    return values;
}

std::size_t ObjectReader::word(const char* name, std::span<const std::string_view> words) {
    const ordered_json& json = require(name);
    if (json.is_string()) {
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (json.get_ref<const std::string&>() == words[i]) return i;
        }
    }
    fail_side_table(place(name), "not a known word");
}

void ObjectReader::done() const {
    for (const auto& [name, value] : json_.items()) {
        if (std::ranges::find(known_, name) == known_.end())
            fail_side_table(place(clip_for_error(name)), "unknown field");
    }
}

}  // namespace whittle::inline v0::detail
