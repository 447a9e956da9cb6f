#include "config_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <type_traits>

namespace whittle::inline v0::detail {

namespace {

template <typename... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;  // clang 14 makes none for an aggregate

void read_object_field(ConfigReader& reader, NodeId at, const BoundFields& fields, const FieldRefs& refs);
std::string expected_of(const BoundField& field);

double highest_real(const FieldInfo& field) {
    return field.highest == INT64_MAX ? std::numeric_limits<double>::max() : static_cast<double>(field.highest);
}

/// Reads the value of one key into what it fills.
struct ReadInto {
    ConfigReader& reader;
    NodeId at;
    const FieldInfo& field;
    const FieldRefs& refs;

    void operator()(bool* value) const { reader.read_flag(at, *value); }
    void operator()(std::string* value) const {
        const std::vector<std::string_view> words(field.words.begin(), field.words.end());
        if (words.empty()) {
            reader.read_text(at, *value);
        } else if (const auto found = reader.read_word(at, field.name, words)) {
            *value = field.words[*found];
        }
    }
    void operator()(std::vector<std::string>* value) const { reader.read_texts(at, *value); }
    void operator()(double* value) const {
        reader.read_real(at, static_cast<double>(field.lowest), highest_real(field), *value);
    }
    template <typename Integer>
    requires std::is_integral_v<Integer>
    void operator()(Integer* value) const {
        std::int64_t read = 0;
        const auto highest = std::min<std::int64_t>(field.highest, std::numeric_limits<Integer>::max());
        const auto lowest = std::max<std::int64_t>(field.lowest, std::numeric_limits<Integer>::min());
        if (reader.read_integer(at, lowest, highest, read)) *value = static_cast<Integer>(read);
    }
    /// One that is wrong stays absent.
    template <typename Value>
    void operator()(std::optional<Value>* value) const {
        Value read{};
        const std::size_t before = reader.problem_count();
        (*this)(&read);
        if (reader.problem_count() == before) *value = read;
    }
    void operator()(FlagOrTexts* value) const {
        if (reader.json()[at].kind == JsonPositions::Kind::array) {
            std::vector<std::string> texts;
            if (reader.read_texts(at, texts)) *value = std::move(texts);
            return;
        }
        const std::string_view raw = reader.json().raw(at);
        if (raw != "true" && raw != "false") return reader.unexpected(at, "true, false or an array of strings");
        bool flag = false;
        if (reader.read_flag(at, flag)) *value = flag;
    }
    void operator()(std::shared_ptr<Storage>*) const {
        read_storage(reader, at, refs.storages[refs.prefix + field.name]);
    }
    void operator()(std::shared_ptr<const TokenCounter>* value) const { read_counter(reader, at, *value); }
    void operator()(const BoundWord& word) const {
        const std::vector<std::string_view> words(field.words.begin(), field.words.end());
        if (const auto found = reader.read_word(at, field.name, words)) word.choose(*found);
    }
    void operator()(const BoundObject& object) const {
        if (object.may_be_false && reader.json()[at].kind != JsonPositions::Kind::object) {
            if (reader.json().raw(at) != "false") return reader.unexpected(at, "false or an object");
            return object.close();
        }
        read_object_field(reader, at, object.open(), refs.below(field.name));
    }
    void operator()(const BoundWordOrObject& either) const {
        if (reader.json()[at].kind == JsonPositions::Kind::object) return (*this)(either.object);
        if (reader.json()[at].kind != JsonPositions::Kind::string)
            return reader.unexpected(at, fmt::format("\"{}\", or an object", fmt::join(field.words, "\", \"")));
        (*this)(either.word);
    }
    void operator()(const BoundList& list) const {
        const JsonPositions& json = reader.json();
        if (!reader.check_array(at, "an array")) return;
        if (json[at].first_child == JsonPositions::none)
            reader.problem(at, "found [], expected an array of at least one");
        for (NodeId child = json[at].first_child; child != JsonPositions::none; child = json[child].next)
            read_item(child, list);
    }
    void operator()(const BoundMap& map) const {
        reader.read_members(at, [&](NodeId child, const std::string& name) {
            read_object_field(reader, child, map.open(name), refs.below(field.name).below(name));
        });
    }
    void operator()(const BoundJson& json) const {
        if (reader.check_object(at)) *json.text = std::string(reader.json().raw(at));
    }
    void operator()(const BoundModel&) const {
        std::string name;
        if (reader.read_text(at, name)) refs.models.insert_or_assign(refs.prefix + field.name, name);
    }
    void operator()(std::chrono::milliseconds* value) const {
        std::int64_t read = 0;
        if (reader.read_integer(at, field.lowest, field.highest, read)) *value = std::chrono::milliseconds(read);
    }

private:
    void read_item(NodeId item, const BoundList& list) const {
        const JsonPositions& json = reader.json();
        if (json[item].kind == JsonPositions::Kind::string) return list.add_text(json.text(item));
        if (json[item].kind != JsonPositions::Kind::object) return reader.unexpected(item, "a string or an object");
        const BoundFields fields = list.add_object();
        if (json[item].first_child == JsonPositions::none)
            return reader.missing(item, fields.all.front().info->name, expected_of(fields.all.front()));
        read_object_field(reader, item, fields, refs.below(field.name));
    }
};

void read_object_field(ConfigReader& reader, NodeId at, const BoundFields& fields, const FieldRefs& refs) {
    reader.read_members(at, [&](NodeId child, const std::string& key) {
        if (const BoundField* field = find_field(fields, key)) return read_field(reader, child, *field, refs);
        std::vector<std::string_view> names;
        for (const BoundField& known : fields.all) names.push_back(known.info->name);
        reader.unknown(child, "key", key, names);
    });
    if (reader.json()[at].kind == JsonPositions::Kind::object) check_required(reader, at, fields);
}

/// As the documentation writes what `value` has; empty: there is nothing to write.
struct ValueText {
    const FieldInfo& field;

    std::string operator()(const bool* value) const { return *value ? "true" : "false"; }
    std::string operator()(const int* value) const { return std::to_string(*value); }
    std::string operator()(const std::int64_t* value) const { return std::to_string(*value); }
    std::string operator()(const double* value) const { return fmt::format("{:.15g}", *value); }
    std::string operator()(const std::string* value) const { return *value; }
    std::string operator()(const std::vector<std::string>* values) const {
        std::vector<std::string> quoted;
        for (const std::string& value : *values) quoted.push_back(json_string(value));
        return fmt::format("[{}]", fmt::join(quoted, ", "));
    }
    template <typename Value>
    std::string operator()(const std::optional<Value>* value) const {
        return *value ? (*this)(&**value) : std::string();
    }
    std::string operator()(const FlagOrTexts* value) const {
        return std::visit([&](const auto& held) { return (*this)(&held); }, *value);
    }
    std::string operator()(const std::shared_ptr<Storage>*) const { return {}; }
    std::string operator()(const std::shared_ptr<const TokenCounter>*) const { return {}; }
    std::string operator()(const BoundWord& word) const {
        return word.now < field.words.size() ? field.words[word.now] : std::string();
    }
    std::string operator()(const BoundObject& object) const {
        const auto now = object.now();
        if (!now) return object.may_be_false ? "false" : "none";
        return fmt::format("{{{}}}", fmt::join(changed_members(*now, object.defaults(), {}), ", "));
    }
    std::string operator()(const BoundMap& map) const {
        std::vector<std::string> objects;
        for (const auto& [name, fields] : map.now())
            objects.push_back(fmt::format("{}: {{{}}}", json_string(name),
                                          fmt::join(changed_members(fields, map.defaults(), {}), ", ")));
        return fmt::format("{{{}}}", fmt::join(objects, ", "));
    }
    std::string operator()(const std::chrono::milliseconds* value) const { return std::to_string(value->count()); }
    std::string operator()(const BoundWordOrObject& either) const { return (*this)(either.word); }
    std::string operator()(const BoundList&) const { return {}; }
    std::string operator()(const BoundJson& json) const { return *json.text; }
    std::string operator()(const BoundModel&) const { return {}; }
};

std::string value_text(const FieldValue& value, const FieldInfo& field) { return std::visit(ValueText{field}, value); }

/// As JSON has a value that is written as `text`.
std::string json_text(const FieldValue& value, const std::string& text) {
    const bool is_string = std::holds_alternative<std::string*>(value) || std::holds_alternative<BoundWord>(value) ||
                           std::holds_alternative<BoundWordOrObject>(value);
    return is_string ? json_string(text) : text;
}

/// What stands in an error about a value that is not there.
std::string expected_of(const BoundField& field) {
    if (!field.info->words.empty()) return fmt::format("one of \"{}\"", fmt::join(field.info->words, "\", \""));
    if (std::holds_alternative<BoundModel>(field.value)) return "a name of `models`";
    if (std::holds_alternative<double*>(field.value))
        return allowed_reals(static_cast<double>(field.info->lowest), highest_real(*field.info));
    const std::string_view type = type_text(field.value);
    if (type == "integer") return allowed_integers(field.info->lowest, field.info->highest);
    if (type == "string") return fmt::format("a string: {}", field.info->meaning);
    if (type == "array") return fmt::format("an array of at least one: {}", field.info->meaning);
    return type.starts_with("true") ? std::string(type) : fmt::format("an {}", type);
}

}  // namespace

const BoundField* find_field(const BoundFields& fields, std::string_view name) {
    const auto found =
        std::ranges::find_if(fields.all, [&](const BoundField& field) { return field.info->name == name; });
    return found == fields.all.end() ? nullptr : &*found;
}

void read_field(ConfigReader& reader, NodeId at, const BoundField& field, const FieldRefs& refs) {
    std::visit(ReadInto{reader, at, *field.info, refs}, field.value);
}

void check_required(ConfigReader& reader, NodeId at, const BoundFields& fields) {
    for (const BoundField& field : fields.all) {
        if (field.info->required && reader.json().member(at, field.info->name) == JsonPositions::none)
            reader.missing(at, field.info->name, expected_of(field));
    }
}

std::string_view type_text(const FieldValue& value) {
    return std::visit(
        Overloaded{[](bool*) { return "true or false"; }, [](std::optional<bool>*) { return "true or false"; },
                   [](int*) { return "integer"; }, [](std::int64_t*) { return "integer"; },
                   [](std::optional<int>*) { return "integer"; },
                   [](std::optional<std::int64_t>*) { return "integer"; }, [](double*) { return "number"; },
                   [](std::optional<double>*) { return "number"; }, [](std::string*) { return "string"; },
                   [](std::vector<std::string>*) { return "array of strings"; },
                   [](FlagOrTexts*) { return "true, false or array of strings"; },
                   [](std::chrono::milliseconds*) { return "integer"; }, [](const BoundList&) { return "array"; },
                   [](const BoundWordOrObject&) { return "string or object"; },
                   [](const BoundWord&) { return "string"; }, [](const BoundModel&) { return "string"; },
                   [](const BoundObject& object) { return object.may_be_false ? "object or false" : "object"; },
                   [](const auto&) { return "object"; }},
        value);
}

std::string default_text(const BoundField& field) {
    if (field.info->required) return "required";
    return field.info->fallback.empty() ? value_text(field.value, *field.info) : field.info->fallback;
}

void add_own_key(std::vector<ConfigKey>& keys, const std::string& prefix, const BoundField& field) {
    keys.push_back({.path = prefix + field.info->name,
                    .type = std::string(type_text(field.value)),
                    .documented_default = default_text(field),
                    .meaning = field.info->meaning});
}

void add_field_keys(std::vector<ConfigKey>& keys, const std::string& prefix, const BoundFields& fields,
                    std::set<TypeId>& listed) {
    for (const BoundField& field : fields.all) add_own_key(keys, prefix, field);
    const auto add = [&](const auto& inner, const std::string& path) {
        if (listed.insert(inner.type).second) add_field_keys(keys, path, inner.defaults(), listed);
    };
    for (const BoundField& field : fields.all) {
        const std::string path = prefix + field.info->name + ".";
        if (const auto* object = std::get_if<BoundObject>(&field.value)) add(*object, path);
        if (const auto* either = std::get_if<BoundWordOrObject>(&field.value)) add(either->object, path);
        if (const auto* list = std::get_if<BoundList>(&field.value)) add(*list, prefix + field.info->name + "[].");
        if (const auto* map = std::get_if<BoundMap>(&field.value)) add(*map, path + map->name_of + ".");
    }
}

std::vector<std::string> changed_members(const BoundFields& fields, const BoundFields& defaults,
                                         const std::map<std::string, std::string, std::less<>>& models) {
    std::vector<std::string> members;
    for (std::size_t i = 0; i < fields.all.size(); ++i) {
        const BoundField& field = fields.all[i];
        const auto model = models.find(field.info->name);
        const bool is_model = std::holds_alternative<BoundModel>(field.value) && model != models.end();
        const std::string text = is_model ? json_string(model->second) : value_text(field.value, *field.info);
        const bool is_absent = text == "none" && std::holds_alternative<BoundObject>(field.value);
        if (text != value_text(defaults.all[i].value, *field.info) && !is_absent)
            members.push_back(json_string(field.info->name) + ": " + json_text(field.value, text));
    }
    return members;
}

void for_each_storage(const BoundFields& fields, const std::string& prefix,
                      const std::function<void(const std::string&, std::shared_ptr<Storage>&)>& visit) {
    for (const BoundField& field : fields.all) {
        const std::string path = prefix + field.info->name;
        if (auto* const* storage = std::get_if<std::shared_ptr<Storage>*>(&field.value)) visit(path, **storage);
        if (const auto* object = std::get_if<BoundObject>(&field.value)) {
            if (const auto now = object->now()) for_each_storage(*now, path + ".", visit);
        }
        if (const auto* map = std::get_if<BoundMap>(&field.value)) {
            for (const auto& [name, inner] : map->now()) for_each_storage(inner, path + "." + name + ".", visit);
        }
    }
}

}  // namespace whittle::inline v0::detail
