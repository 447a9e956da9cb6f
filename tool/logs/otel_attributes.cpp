#include "otel_attributes.hpp"

#include "whittle/provider/detail/json_tree.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
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
    auto& members = out.get_ref<ordered_json::object_t&>();  // by `emplace_back`: `[]` looks at every key before it
    std::unordered_map<std::string_view, std::size_t> place_of_key;
    for (const ordered_json& one : *values) {
        const ordered_json* inner = find_member(one, "value");
        if (inner == nullptr) continue;
        const std::string_view key = text_at(one, "key");
        const auto [place, is_new] = place_of_key.try_emplace(key, members.size());
        if (is_new) members.emplace_back(std::string(key), nullptr);
        (members.begin() + static_cast<std::ptrdiff_t>(place->second))->second = otlp_value(*inner, depth + 1);
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

/// "a.b" is "b" within "a". What does not fit to what is there, or is too deep, is passed over.
class AttributeTree {
public:
    void put(std::string_view path, const ordered_json& value, int depth = 0) {
        constexpr int deepest = 12;
        if (!value_.is_null() || depth == deepest) return;
        const std::size_t end = path.find('.');
        std::unique_ptr<AttributeTree>& member = members_[std::string(path.substr(0, end))];
        if (member == nullptr) member = std::make_unique<AttributeTree>();
        if (end != std::string_view::npos) return member->put(path.substr(end + 1), value, depth + 1);
        if (member->value_.is_null() && member->members_.empty()) member->value_ = value;
    }

    [[nodiscard]] ordered_json json() && {
        if (members_.empty()) return std::move(value_);
        ordered_json out = ordered_json::object();
        auto& members = out.get_ref<ordered_json::object_t&>();
        for (auto& [key, member] : members_) members.emplace_back(key, std::move(*member).json());
        return out;
    }

private:
    ordered_json value_{};
    std::map<std::string, std::unique_ptr<AttributeTree>> members_{};
};

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
    std::map<std::uint32_t, AttributeTree> by_index;
    for (auto at = attributes.lower_bound(start); at != attributes.end() && at->first.starts_with(start); ++at) {
        std::string_view path = std::string_view(at->first).substr(start.size());
        if (const auto index = take_index(path)) by_index[*index].put(path, at->second);
    }
    std::vector<ordered_json> list;
    for (auto& [index, tree] : by_index) list.push_back(std::move(tree).json());
    return list;
}

}  // namespace whittle::inline v0::logs
