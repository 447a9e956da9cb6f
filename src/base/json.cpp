#include "whittle/base/detail/json.hpp"
#include "whittle/base/detail/base64.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
#include <cmath>

namespace whittle::inline v0::detail {

namespace {

const nlohmann::json& json_at(const std::shared_ptr<const void>& value) noexcept {
    return *static_cast<const nlohmann::json*>(value.get());
}

void append_escaped(std::string& out, char c) {
    constexpr std::string_view escaped = "\"\\\b\f\n\r\t";
    constexpr std::string_view letters = "\"\\bfnrt";
    if (const std::size_t at = escaped.find(c); at != std::string_view::npos) {
        out += '\\';
        out += letters[at];
    } else if (static_cast<unsigned char>(c) < 0x20) {
        out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
        out += c;
    }
}

}  // namespace

bool JsonValue::is_null() const noexcept { return json_at(value_).is_null(); }
bool JsonValue::is_array() const noexcept { return json_at(value_).is_array(); }
bool JsonValue::is_object() const noexcept { return json_at(value_).is_object(); }

const std::string* JsonValue::string() const noexcept { return json_at(value_).get_ptr<const std::string*>(); }

std::optional<bool> JsonValue::boolean() const noexcept {
    const bool* const value = json_at(value_).get_ptr<const bool*>();
    return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::optional<std::int64_t> JsonValue::integer() const noexcept {
    const nlohmann::json& json = json_at(value_);
    if (json.is_number_unsigned() && *natural() > INT64_MAX) return std::nullopt;
    return json.is_number_integer() ? std::optional(json.get<std::int64_t>()) : std::nullopt;
}

std::optional<std::uint64_t> JsonValue::natural() const noexcept {
    const nlohmann::json& json = json_at(value_);
    return json.is_number_unsigned() ? std::optional(json.get<std::uint64_t>()) : std::nullopt;
}

std::size_t JsonValue::size() const noexcept {
    const nlohmann::json& json = json_at(value_);
    return json.is_structured() ? json.size() : 0;
}

std::vector<JsonValue> JsonValue::values() const {
    std::vector<JsonValue> values;
    if (size() == 0) return values;
    values.reserve(size());
    for (const nlohmann::json& value : json_at(value_)) values.push_back(beside(&value));
    return values;
}

std::vector<std::pair<std::string_view, JsonValue>> JsonValue::members() const {
    std::vector<std::pair<std::string_view, JsonValue>> members;
    if (!is_object()) return members;
    for (const auto& [name, value] : json_at(value_).get_ref<const nlohmann::json::object_t&>())
        members.emplace_back(name, beside(&value));
    return members;
}

std::optional<JsonValue> JsonValue::find(std::string_view name) const {
    const nlohmann::json& json = json_at(value_);
    const auto found = json.find(name);
    return found != json.end() ? std::optional(beside(&*found)) : std::nullopt;
}

const std::string* JsonValue::find_string(std::string_view name) const {
    const auto found = find(name);
    return found ? found->string() : nullptr;
}

std::string JsonValue::literal() const {
    const nlohmann::json& json = json_at(value_);
    return json.is_structured() ? std::string() : json.dump();
}

JsonValue parse_json(std::string_view text) {
    return JsonValue(std::make_shared<const nlohmann::json>(
        nlohmann::json::parse(text.data(), text.data() + text.size(), nullptr, false)));
}

JsonValue require_json(std::string_view text, std::string_view operation) {
    const auto fail = [&](std::size_t offset, std::string_view reason) {
        return Error(Errc::parse_failed, fmt::format("{}: offset {}: {}", operation, offset, reason));
    };
    const std::size_t zero = text.find('\0');  // the parser would take it for the end
    if (zero != std::string_view::npos) throw fail(zero, "a zero byte");
    try {
        return JsonValue(
            std::make_shared<const nlohmann::json>(nlohmann::json::parse(text.data(), text.data() + text.size())));
    } catch (const nlohmann::json::parse_error& error) {
        throw fail(error.byte == 0 ? 0 : error.byte - 1, "not JSON");
    } catch (const nlohmann::json::exception&) {
        throw fail(0, "a number is out of range");
    }
}

bool is_json(std::string_view text) { return nlohmann::json::accept(text.data(), text.data() + text.size()); }

std::vector<std::string> strings_in_json(std::string_view text) {
    std::vector<std::string> strings;
    std::vector<JsonValue> open{parse_json(text)};
    while (!open.empty()) {
        const JsonValue value = std::move(open.back());
        open.pop_back();
        if (const std::string* string = value.string()) strings.push_back(*string);
        for (JsonValue& inner : value.values()) open.push_back(std::move(inner));
    }
    return strings;
}

void append_json_literal(std::string& out, std::string_view text) {
    out += '"';
    for (const char c : to_valid_utf8(text)) append_escaped(out, c);
    out += '"';
}

void JsonWriter::value(std::string_view text) {
    separate();
    append_json_literal(out_, text);
}

void JsonWriter::value(double number) {
    separate();
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), std::isfinite(number) ? number : 0.0);
    out_.append(digits.data(), end.ptr);
}

void JsonWriter::bytes_member(std::string_view member_name, std::string_view bytes) {
    if (is_valid_utf8(bytes)) return member(member_name, bytes);
    name(member_name);
    open_object();
    member("base64", to_base64(bytes));
    close_object();
}

void JsonWriter::name(std::string_view name) {
    value(name);
    out_ += ':';
}

void JsonWriter::separate() {
    if (!out_.empty() && std::string_view("{[:").find(out_.back()) == std::string_view::npos) out_ += ',';
}

}  // namespace whittle::inline v0::detail
