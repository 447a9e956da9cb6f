#include "config_json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace whittle::inline v0 {

namespace detail {

namespace {

[[noreturn]] void refuse_type(Errc code, std::string_view type, std::string_view why) {
    throw Error(code, fmt::format("register middleware \"{}\": {}", type, why));
}

bool is_type_name(std::string_view name) {
    const auto is_good = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
    return !name.empty() && std::ranges::all_of(name, is_good);
}

/// The names of all keys of an entry.
std::vector<std::string_view> key_names(const RegisteredType& type) {
    std::vector<std::string_view> names{"type", "name"};
    if (type.asks_model) names.push_back("model");
    for (const FieldInfo& field : type.fields) names.push_back(field.name);
    return names;
}

void check_keys(const RegisteredType& type) {
    std::set<std::string_view> seen{"type", "name", "model"};
    for (const FieldInfo& field : type.fields) {
        if (field.name.empty()) refuse_type(Errc::invalid_argument, type.name, "a key without a name");
        if (!seen.insert(field.name).second)
            refuse_type(Errc::invalid_argument, type.name, fmt::format("a second key \"{}\"", field.name));
    }
}

/// Reads the value of one key into its member.
struct ReadInto {
    ConfigReader& reader;
    NodeId at;
    const FieldInfo& field;

    void operator()(bool* value) const { reader.read_flag(at, *value); }
    void operator()(std::int64_t* value) const { reader.read_integer(at, field.lowest, field.highest, *value); }
    void operator()(int* value) const {
        std::int64_t read = 0;
        const auto highest = std::min<std::int64_t>(field.highest, std::numeric_limits<int>::max());
        const auto lowest = std::max<std::int64_t>(field.lowest, std::numeric_limits<int>::min());
        if (reader.read_integer(at, lowest, highest, read)) *value = static_cast<int>(read);
    }
    void operator()(double* value) const {
        const bool is_open = field.highest == INT64_MAX;
        const double highest = is_open ? std::numeric_limits<double>::max() : static_cast<double>(field.highest);
        reader.read_real(at, static_cast<double>(field.lowest), highest, *value);
    }
    void operator()(std::string* value) const {
        const std::vector<std::string_view> words(field.words.begin(), field.words.end());
        if (words.empty()) {
            reader.read_text(at, *value);
        } else if (const auto found = reader.read_word(at, "value", words)) {
            *value = field.words[*found];
        }
    }
    void operator()(std::vector<std::string>* value) const { reader.read_texts(at, *value); }
};

std::string article_of(const ConfigValue& value) {
    const std::string_view type = type_text(value);
    if (type.starts_with("true")) return "";
    return type.starts_with('a') || type.starts_with('i') ? "an " : "a ";
}

/// False if no key of the type has that name.
bool read_key(ConfigReader& reader, NodeId at, std::string_view key, const RegisteredType& type,
              const std::vector<ConfigValue>& values, StageSettings& stage) {
    if (key == "type") return true;
    if (key == "name") return reader.read_text(at, stage.name), true;
    if (key == "model" && type.asks_model) return reader.read_text(at, stage.model), true;
    const auto found = std::ranges::find(type.fields, key, &FieldInfo::name);
    if (found == type.fields.end()) return false;
    const auto index = static_cast<std::size_t>(found - type.fields.begin());
    std::visit(ReadInto{reader, at, *found}, values[index]);
    return true;
}

void read_registered(ConfigReader& reader, NodeId at, StageSettings& stage) {
    auto& config = std::get<RegisteredConfig>(stage.config);
    const RegisteredType& type = *config.type;
    config.value = type.defaults();
    stage.name = type.name;
    const std::vector<ConfigValue> values = type.values_of(config.value);
    read_map(reader, at, [&](NodeId child, const std::string& key) {
        if (!read_key(reader, child, key, type, values, stage)) reader.unknown(child, "key", key, key_names(type));
    });
    for (std::size_t i = 0; i < values.size(); ++i) {
        const FieldInfo& field = type.fields[i];
        if (field.required && reader.json().member(at, field.name) == JsonPositions::none)
            reader.missing(at, field.name, article_of(values[i]) + std::string(type_text(values[i])));
    }
}

void check_registered(const StageSettings& stage, const StagePlace& place, Problems& problems) {
    const auto& config = std::get<RegisteredConfig>(stage.config);
    config.type->check(config.value, place.chain, problems);
}

}  // namespace

extern const StageType registered_type;
const StageType registered_type{"", &read_registered, &check_registered, nullptr};

void fail_no_maker(std::string_view type) {
    throw Error(Errc::not_offered,
                fmt::format("make middleware: type \"{}\" is not registered for this message type", type));
}

void add_registered_keys(std::vector<ConfigKey>& keys, const RegisteredType& type) {
    const std::string prefix = type.name + ".";
    keys.push_back({prefix + "type", "string", "required", "`" + type.name + "`"});
    keys.push_back({prefix + "name", "string", type.name, std::string(name_meaning)});
    if (type.asks_model) keys.push_back({prefix + "model", "string", "none", "a name of `models`"});
    std::any config = type.defaults();
    const std::vector<ConfigValue> values = type.values_of(config);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const FieldInfo& field = type.fields[i];
        const std::string fallback = field.required ? std::string("required") : default_text(values[i]);
        keys.push_back({prefix + field.name, std::string(type_text(values[i])), fallback, field.meaning});
    }
}

}  // namespace detail

void MiddlewareTypes::add(detail::RegisteredType type) {
    if (!detail::is_type_name(type.name))
        detail::refuse_type(Errc::invalid_argument, type.name, "a type has characters a to z, 0 to 9 and _");
    const bool is_known = std::ranges::any_of(types_, [&](const auto& known) { return known->name == type.name; });
    if (is_known || detail::is_built_in(type.name))
        detail::refuse_type(Errc::already_exists, type.name, "there is a type of that name");
    detail::check_keys(type);
    types_.push_back(std::make_shared<const detail::RegisteredType>(std::move(type)));
}

}  // namespace whittle::inline v0
