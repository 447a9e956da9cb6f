#include "otel_attributes.hpp"

#include "whittle/adapter/detail/json_tree.hpp"

#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

/// 64-bit numbers are texts in JSON.
ordered_json otlp_number(const ordered_json& value) {
    if (value.is_number_integer()) return value;
    if (!value.is_string()) return nullptr;
    std::int64_t number = 0;
    const std::string& text = value.get_ref<const std::string&>();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? ordered_json(number) : ordered_json(nullptr);
}

ordered_json otlp_value(const ordered_json& value, int depth);

ordered_json otlp_list(const ordered_json& list, int depth) {
    ordered_json out = ordered_json::array();
    const ordered_json* values = tree_at(list, "values");
    if (values == nullptr || !values->is_array()) return out;
    for (const ordered_json& one : *values) out.push_back(otlp_value(one, depth + 1));
    return out;
}

ordered_json otlp_map(const ordered_json& map, int depth) {
    ordered_json out = ordered_json::object();
    const ordered_json* values = tree_at(map, "values");
    if (values == nullptr || !values->is_array()) return out;
    for (const ordered_json& one : *values) {
        const ordered_json* inner = find_member(one, "value");
        if (inner != nullptr) out[std::string(text_at(one, "key"))] = otlp_value(*inner, depth + 1);
    }
    return out;
}

/// {"stringValue": ...}, {"intValue": "12"}, {"arrayValue": {"values": [...]}},
/// {"kvlistValue": {"values": [{"key", "value"}]}}.
ordered_json otlp_value(const ordered_json& value, int depth) {
    constexpr int deepest = 60;
    if (!value.is_object() || depth > deepest) return nullptr;
    if (const ordered_json* text = find_member(value, "stringValue")) return *text;
    if (const ordered_json* number = find_member(value, "intValue")) return otlp_number(*number);
    for (const char* plain : {"doubleValue", "boolValue"}) {
        if (const ordered_json* one = find_member(value, plain)) return *one;
    }
    if (const ordered_json* list = tree_at(value, "arrayValue")) return otlp_list(*list, depth);
    if (const ordered_json* map = tree_at(value, "kvlistValue")) return otlp_map(*map, depth);
    return nullptr;
}

/// Takes "12." off the front.
std::optional<std::uint32_t> take_index(std::string_view& path) {
    std::uint32_t index = 0;
    const char* const end = path.data() + path.size();
    const auto [read, error] = std::from_chars(path.data(), end, index);
    if (error != std::errc() || read == end || *read != '.') return std::nullopt;
    path.remove_prefix(static_cast<std::size_t>(read - path.data()) + 1);
    return index;
}

/// What does not fit to what is there, or is too deep, is passed over.
void put_at(ordered_json& tree, std::string_view path, const ordered_json& value) {
    constexpr int deepest = 12;
    ordered_json* at = &tree;
    for (int depth = 0; depth < deepest; ++depth) {
        if (!at->is_null() && !at->is_object()) return;
        const std::size_t end = path.find('.');
        at = &(*at)[std::string(path.substr(0, end))];
        if (end == std::string_view::npos) {
            if (at->is_null()) *at = value;
            return;
        }
        path.remove_prefix(end + 1);
    }
}

}  // namespace

OtelAttributes otel_attributes_of(const ordered_json& holder) {
    OtelAttributes attributes;
    const ordered_json* list = tree_at(holder, "attributes");
    if (list == nullptr || !list->is_array()) return attributes;
    for (const ordered_json& one : *list) {
        const ordered_json* value = find_member(one, "value");
        if (value != nullptr) attributes[std::string(text_at(one, "key"))] = otlp_value(*value, 0);
    }
    return attributes;
}

const ordered_json* first_attribute(const OtelAttributes& attributes, std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
        const auto at = attributes.find(key);
        if (at != attributes.end() && !at->second.is_null()) return &at->second;
    }
    return nullptr;
}

std::string_view first_attribute_text(const OtelAttributes& attributes, std::initializer_list<std::string_view> keys) {
    const ordered_json* value = first_attribute(attributes, keys);
    return value != nullptr && value->is_string() ? std::string_view(value->get_ref<const std::string&>())
                                                  : std::string_view();
}

std::vector<ordered_json> indexed_attributes(const OtelAttributes& attributes, std::string_view prefix) {
    const std::string start = std::string(prefix) + ".";
    std::map<std::uint32_t, ordered_json> by_index;
    for (auto at = attributes.lower_bound(start); at != attributes.end() && at->first.starts_with(start); ++at) {
        std::string_view path = std::string_view(at->first).substr(start.size());
        if (const auto index = take_index(path)) put_at(by_index[*index], path, at->second);
    }
    std::vector<ordered_json> list;
    for (auto& [index, tree] : by_index) list.push_back(std::move(tree));
    return list;
}

}  // namespace whittle::inline v0::logs
