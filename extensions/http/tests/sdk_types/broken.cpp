#include "broken.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace whittle::sdk_types {

namespace {

using nlohmann::ordered_json;
using Pointer = ordered_json::json_pointer;

/// Hosts' own JSON: the types allow anything there.
bool is_free(std::string_view key) {
    constexpr std::array<std::string_view, 5> keys{"input", "input_schema", "parameters", "schema", "logit_bias"};
    for (const std::string_view free : keys) {
        if (key == free) return true;
    }
    return false;
}

struct Place {
    Pointer pointer{};
    std::string sort{};
};

std::string text_of(const ordered_json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Objects of one sort have the same members in the types: "messages[tool]", "messages[user].content[text]".
std::string sort_of(const std::string& parent, const ordered_json& value) {
    if (!value.is_object()) return parent;
    std::string kind = text_of(value, "role");
    if (kind.empty()) kind = text_of(value, "type");
    return kind.empty() ? parent : parent + "[" + kind + "]";
}

void add_inner(std::vector<Place>& places, const Place& place, const ordered_json& value) {
    if (value.is_array()) {
        for (std::size_t i = 0; i < value.size(); ++i)
            places.push_back({place.pointer / i, sort_of(place.sort, value[i])});
        return;
    }
    for (const auto& [key, inner] : value.items()) {
        if (is_free(key) || !inner.is_structured()) continue;
        const std::string sort = place.sort.empty() ? key : place.sort + "." + key;
        places.push_back({place.pointer / key, sort_of(sort, inner)});
    }
}

/// Every object and array outside of what is free, the whole body first.
std::vector<Place> places_of(const ordered_json& body) {
    std::vector<Place> places{{}};
    for (std::size_t i = 0; i < places.size(); ++i) {
        const Place place = places[i];
        add_inner(places, place, body.at(place.pointer));
    }
    return places;
}

ordered_json wrong_value(const ordered_json& value) {
    return value.is_boolean() ? ordered_json("true") : value.is_string() ? ordered_json(7) : ordered_json(true);
}

ordered_json with(const ordered_json& body, const Pointer& object, const std::string& key, ordered_json value) {
    ordered_json changed = body;
    changed.at(object)[key] = std::move(value);
    return changed;
}

}  // namespace

std::vector<Broken> break_body(const ordered_json& body, std::set<std::string>& seen) {
    std::vector<Broken> broken;
    for (const Place& place : places_of(body)) {
        const ordered_json& object = body.at(place.pointer);
        if (!object.is_object()) continue;
        if (seen.insert(place.sort + ".?").second)
            broken.push_back({place.sort + ": a member nobody knows", with(body, place.pointer, "x_unknown", 1)});
        for (const auto& [key, value] : object.items()) {
            if (is_free(key) || !seen.insert(place.sort + "." + key).second) continue;
            const ordered_json wrong = wrong_value(value);
            broken.push_back({place.sort + "." + key + ": " + wrong.dump(), with(body, place.pointer, key, wrong)});
        }
    }
    return broken;
}

}  // namespace whittle::sdk_types
