#include "config_json_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
    if (type.asks_model != AsksModel::no) names.push_back("model");
    for (const FieldInfo& field : type.fields) names.push_back(field.name);
    return names;
}

/// What is wrong with a key, whose default is `value`; empty: nothing.
struct KeyFault {
    const FieldInfo& field;

    std::string operator()(const bool*) const { return not_a_string(); }
    std::string operator()(const int* value) const { return of_number(std::int64_t{*value}); }
    std::string operator()(const std::int64_t* value) const { return of_number(*value); }
    std::string operator()(const double* value) const { return of_number(*value); }
    std::string operator()(const std::vector<std::string>*) const { return not_a_string(); }
    std::string operator()(const std::string* value) const {
        if (field.words.empty() || field.required || std::ranges::count(field.words, *value) > 0) return {};
        return fmt::format("its default \"{}\" is none of its words", *value);
    }

private:
    [[nodiscard]] std::string not_a_string() const { return field.words.empty() ? "" : "only a string can have words"; }

    template <typename Number>
    [[nodiscard]] std::string of_number(Number value) const {
        if (field.lowest > field.highest) return fmt::format("{} to {} is no range", field.lowest, field.highest);
        const bool is_open = field.highest == INT64_MAX;
        const bool is_inside =
            value >= static_cast<Number>(field.lowest) && (is_open || value <= static_cast<Number>(field.highest));
        if (!field.required && !is_inside) return fmt::format("its default {} is outside of its range", value);
        return not_a_string();
    }
};

std::string key_fault(const FieldInfo& field, const ConfigValue& value) {
    if (field.name.empty()) return "it has no name";
    if (field.name.find('.') != std::string::npos) return "it has a dot, which separates keys in paths";
    return std::visit(KeyFault{field}, value);
}

void check_keys(const RegisteredType& type) {
    std::any config = type.defaults();
    const std::vector<ConfigValue> values = type.values_of(config);
    std::set<std::string_view> names{"type", "name", "model"};
    std::set<ConfigValue> members;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::string& name = type.fields[i].name;
        std::string fault = key_fault(type.fields[i], values[i]);
        if (fault.empty() && !names.insert(name).second) fault = "a second key of that name";
        if (fault.empty() && !members.insert(values[i]).second) fault = "another key fills its member";
        if (!fault.empty()) refuse_type(Errc::invalid_argument, type.name, fmt::format("key \"{}\": {}", name, fault));
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

/// What stands in an error about a value that is not there.
std::string expected_of(const FieldInfo& field, const ConfigValue& value) {
    if (!field.words.empty()) return fmt::format("one of \"{}\"", fmt::join(field.words, "\", \""));
    const std::string_view type = type_text(value);
    if (type.starts_with("true")) return std::string(type);
    return (type.starts_with('a') || type.starts_with('i') ? "an " : "a ") + std::string(type);
}

/// Reports the keys that an entry must have and has not.
void check_required(ConfigReader& reader, NodeId at, const RegisteredType& type,
                    const std::vector<ConfigValue>& values) {
    const auto lacks = [&](std::string_view key) { return reader.json().member(at, key) == JsonPositions::none; };
    if (type.asks_model == AsksModel::must && lacks("model")) reader.missing(at, "model", "a name of `models`");
    for (std::size_t i = 0; i < values.size(); ++i) {
        const FieldInfo& field = type.fields[i];
        if (field.required && lacks(field.name)) reader.missing(at, field.name, expected_of(field, values[i]));
    }
}

/// False if no key of the type has that name.
bool read_key(ConfigReader& reader, NodeId at, std::string_view key, const RegisteredType& type,
              const std::vector<ConfigValue>& values, StageSettings& stage) {
    if (key == "type") return true;
    if (key == "name") return reader.read_text(at, stage.name), true;
    if (key == "model" && type.asks_model != AsksModel::no) return reader.read_text(at, stage.model), true;
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
    check_required(reader, at, type, values);
}

void check_registered(const StageSettings& stage, const StagePlace& place, Problems& problems) {
    const auto& config = std::get<RegisteredConfig>(stage.config);
    config.type->check(config.value, place.named, problems);
}

}  // namespace

extern const StageType registered_type;
const StageType registered_type{"", &read_registered, &check_registered, nullptr};

void fail_no_maker(std::string_view type) {
    throw Error(Errc::not_offered,
                fmt::format("make middleware: type \"{}\" is not registered for this message type", type));
}

void fail_other_config() {
    throw Error(
        Errc::invalid_argument,
        "make middleware: the settings of a host's own type were not read, or hold another type's configuration");
}

void fail_made(std::string_view type, std::string_view name, std::string_view made) {
    throw Error(Errc::invalid_argument,
                fmt::format("make middleware \"{}\": the maker of type \"{}\" made {}", name, type,
                            made.empty() ? std::string("none") : fmt::format("one named \"{}\"", made)));
}

void add_registered_keys(std::vector<ConfigKey>& keys, const RegisteredType& type) {
    const std::string prefix = type.name + ".";
    keys.push_back({prefix + "type", "string", "required", "`" + type.name + "`"});
    keys.push_back({prefix + "name", "string", type.name, std::string(name_meaning)});
    if (type.asks_model != AsksModel::no) {
        const char* fallback = type.asks_model == AsksModel::must ? "required" : "none";
        keys.push_back({prefix + "model", "string", fallback, "a name of `models`"});
    }
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
    if (detail::is_top_level_key(type.name))
        detail::refuse_type(Errc::already_exists, type.name, "configurations have a section of that name");
    detail::check_keys(type);
    types_.push_back(std::make_shared<const detail::RegisteredType>(std::move(type)));
}

}  // namespace whittle::inline v0
