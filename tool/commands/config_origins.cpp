#include "config_origins.hpp"

#include "commands.hpp"
#include "configuration/config_types.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace whittle::cli {
namespace {

using nlohmann::ordered_json;

/// The member at a dotted path; null: there is none.
const ordered_json* find_at(const ordered_json& json, std::string_view path) {
    const ordered_json* at = &json;
    while (!path.empty()) {
        const std::size_t dot = std::min(path.find('.'), path.size());
        const std::string key(path.substr(0, dot));
        if (!at->is_object() || !at->contains(key)) return nullptr;
        at = &(*at)[key];
        path.remove_prefix(std::min(dot + 1, path.size()));
    }
    return at;
}

/// Names of models and tools, and elements of lists, are the user's own.
bool is_pattern(std::string_view path) {
    return path.find("NAME") != std::string_view::npos || path.find("TOOL") != std::string_view::npos;
}

/// An object that nobody gave and whose keys have defaults of their own.
bool is_section(const ConfigKey& key) { return key.type == "object" && key.documented_default == "{}"; }

/// The keys of one object: those of the table in its order, then the user's own names.
class KeyLister {
public:
    KeyLister(std::string place, const ordered_json& given, const ordered_json& whole)
        : place_(std::move(place)), given_(given), whole_(whole) {}

    /// `path`: within the object.
    void add(const std::string& path, const ConfigKey& key) {
        if (path.empty() || is_pattern(path) || is_below_closed(path)) return;
        if (const ordered_json* value = find_at(whole_, path)) {
            if (value->is_object()) return;
            return push(path, *value);
        }
        if (is_section(key)) return;
        closed_.insert(path);
        values_.push_back(
            {place_ + path, key.documented_default.empty() ? "empty" : key.documented_default, ValueOrigin::fallback});
    }

    /// What no key of the table names.
    void add_rest(const ordered_json& json, const std::string& prefix = {}) {
        for (const auto& [name, value] : json.items()) {
            const std::string path = prefix + name;
            if (path == "middlewares") continue;
            if (value.is_object() && !value.empty()) {
                add_rest(value, path + ".");
            } else if (!known_.contains(path)) {
                push(path, value);
            }
        }
    }

    [[nodiscard]] std::vector<OriginatedValue> take() { return std::move(values_); }

private:
    void push(const std::string& path, const ordered_json& value) {
        known_.insert(path);
        closed_.insert(path);
        const bool is_given = find_at(given_, path) != nullptr;
        values_.push_back({place_ + path, value.dump(-1, ' ', false, ordered_json::error_handler_t::replace),
                           is_given ? ValueOrigin::given : ValueOrigin::preset});
    }

    /// Below something that has a value of its own, or that is not there.
    [[nodiscard]] bool is_below_closed(std::string_view path) const {
        for (std::size_t dot = path.rfind('.'); dot != std::string_view::npos; dot = path.rfind('.', dot - 1)) {
            if (closed_.contains(path.substr(0, dot))) return true;
            if (dot == 0) break;
        }
        return false;
    }

    std::string place_;
    const ordered_json& given_;
    const ordered_json& whole_;
    std::set<std::string, std::less<>> closed_{};
    std::set<std::string> known_{};
    std::vector<OriginatedValue> values_{};
};

void append(std::vector<OriginatedValue>& values, std::vector<OriginatedValue>&& more) {
    std::ranges::move(more, std::back_inserter(values));
}

std::string name_of_entry(const ordered_json& entry) {
    for (const char* key : {"name", "type"}) {
        if (entry.contains(key) && entry[key].is_string()) return entry[key].get<std::string>();
    }
    return {};
}

/// The entry that the user gave for a middleware of the whole; an empty object: it is all the preset's.
ordered_json given_entry(const ordered_json& given, const ordered_json& entry) {
    if (const ordered_json* list = find_at(given, "middlewares")) {
        for (const ordered_json& candidate : *list) {
            if (name_of_entry(candidate) == name_of_entry(entry)) return candidate;
        }
    }
    return ordered_json::object();
}

/// Whether the section has a type that the key is not of.
bool is_of_another_type(const ConfigKey& key, const ordered_json& whole) {
    if (key.only_for_type.empty()) return false;
    const bool is_of_counter = key.path.starts_with("tokens.");
    const ordered_json* type = find_at(whole, is_of_counter ? "tokens.counter" : "storage.type");
    if (type == nullptr || !type->is_string()) return !is_of_counter || key.only_for_type != "chars";
    return type->get<std::string>() != key.only_for_type;
}

bool is_of_middleware(const std::vector<ConfigKey>& keys, const std::string& section) {
    return std::ranges::any_of(keys, [&](const ConfigKey& key) { return key.path == section + ".type"; });
}

}  // namespace

std::vector<OriginatedValue> origins_of(const std::string& given_text, const std::string& written_out) {
    const ordered_json given = ordered_json::parse(given_text);
    ordered_json whole = ordered_json::parse(written_out);
    if (given.contains("preset")) whole["preset"] = given["preset"];
    const std::vector<ConfigKey> keys = config_keys(config_types(environment_value));
    KeyLister sections("", given, whole);
    for (const ConfigKey& key : keys) {
        const std::string section = key.path.substr(0, key.path.find('.'));
        if (is_of_another_type(key, whole)) continue;
        if (section == "middlewares" || (section != "storage" && is_of_middleware(keys, section))) continue;
        sections.add(key.path, key);
    }
    sections.add_rest(whole);
    std::vector<OriginatedValue> values = sections.take();
    if (!whole.contains("middlewares")) return values;
    for (std::size_t i = 0; i < whole["middlewares"].size(); ++i) {
        const ordered_json& entry = whole["middlewares"][i];
        const ordered_json mine = given_entry(given, entry);
        KeyLister stage(fmt::format("middlewares[{}].", i), mine, entry);
        const std::string prefix = entry["type"].get<std::string>() + ".";
        for (const ConfigKey& key : keys) {
            if (key.path.starts_with(prefix)) stage.add(key.path.substr(prefix.size()), key);
        }
        stage.add_rest(entry);
        append(values, stage.take());
    }
    return values;
}

}  // namespace whittle::cli
