#include "config_schema.hpp"

#include "config_stages.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <type_traits>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

using schema_json = nlohmann::ordered_json;

schema_json schema_of_fields(const BoundFields& fields, const ConfigRows& rows);

schema_json list_of(schema_json items) { return {{"type", "array"}, {"items", std::move(items)}}; }

schema_json any_of(schema_json first, schema_json second) { return {{"anyOf", {std::move(first), std::move(second)}}}; }

/// An object whose member `key` decides which of the rows it is. `is_required`: else it is the first.
template <typename RowType>
schema_json schema_of_rows(const SharedRows<RowType>& given, const std::string& key, bool is_required,
                           const ConfigRows& rows, const BoundFields& others) {
    schema_json names = schema_json::array();
    schema_json branches = schema_json::array();
    for (const auto& row : given) {
        names.push_back(row->name);
        std::any config = row->defaults();
        BoundFields fields = row->bind(config);
        fields.all.insert(fields.all.end(), others.all.begin(), others.all.end());
        schema_json then = schema_of_fields(fields, rows);
        then["properties"][key] = {{"const", row->name}};
        if (!is_required && row == given.front())
            branches.push_back({{"if", {{"not", {{"required", {key}}}}}}, {"then", then}});
        schema_json condition{{"required", {key}}};
        condition["properties"][key]["const"] = row->name;
        branches.push_back({{"if", std::move(condition)}, {"then", std::move(then)}});
    }
    schema_json schema{{"type", "object"}};
    if (is_required) schema["required"] = {key};
    schema["properties"][key] = {{"description", "decides which other keys there are"}, {"enum", std::move(names)}};
    schema["allOf"] = std::move(branches);
    return schema;
}

schema_json schema_of_storage(const ConfigRows& rows) {
    std::vector<std::any> configs;  // which the fields are bound to
    BoundFields around;
    configs.reserve(rows.around.size());
    for (const auto& row : rows.around) {
        const BoundFields own = row->bind(configs.emplace_back(row->defaults()));
        around.all.insert(around.all.end(), own.all.begin(), own.all.end());
    }
    return schema_of_rows(rows.stores, "type", true, rows, around);
}

/// What a value may be.
struct SchemaOf {
    const FieldInfo& field;
    const ConfigRows& rows;

    schema_json operator()(const bool*) const { return {{"type", "boolean"}}; }
    schema_json operator()(const double*) const {
        schema_json schema{{"type", "number"}, {"minimum", field.lowest}};
        if (field.highest != INT64_MAX) schema["maximum"] = field.highest;
        return schema;
    }
    schema_json operator()(const int*) const { return integer(std::numeric_limits<int>::max()); }
    schema_json operator()(const std::int64_t*) const { return integer(INT64_MAX); }
    schema_json operator()(const std::chrono::milliseconds*) const { return integer(INT64_MAX); }
    template <typename Value>
    schema_json operator()(const std::optional<Value>*) const {
        return (*this)(static_cast<const Value*>(nullptr));
    }
    schema_json operator()(const std::string*) const {
        if (!field.words.empty()) return {{"enum", field.words}};
        return {{"type", "string"}};
    }
    schema_json operator()(const std::vector<std::string>*) const { return list_of({{"type", "string"}}); }
    schema_json operator()(const FlagOrTexts*) const {
        return any_of({{"type", "boolean"}}, list_of({{"type", "string"}}));
    }
    schema_json operator()(const BoundWord&) const { return {{"enum", field.words}}; }
    schema_json operator()(const BoundModel&) const { return {{"type", "string"}}; }
    schema_json operator()(const BoundJson&) const { return {{"type", "object"}}; }
    schema_json operator()(const BoundObject& object) const {
        schema_json schema = schema_of_fields(object.defaults(), rows);
        return object.may_be_false ? any_of(std::move(schema), {{"const", false}}) : schema;
    }
    schema_json operator()(const BoundWordOrObject& either) const {
        return any_of((*this)(either.word), (*this)(either.object));
    }
    schema_json operator()(const BoundList& list) const {
        schema_json item = schema_of_fields(list.defaults(), rows);
        item["minProperties"] = 1;
        schema_json schema = list_of(any_of({{"type", "string"}}, std::move(item)));
        schema["minItems"] = 1;
        return schema;
    }
    schema_json operator()(const BoundMap& map) const {
        return {{"type", "object"}, {"additionalProperties", schema_of_fields(map.defaults(), rows)}};
    }
    schema_json operator()(const std::shared_ptr<Storage>*) const { return {{"$ref", "#/$defs/storage"}}; }
    schema_json operator()(const std::shared_ptr<const TokenCounter>*) const { return {{"$ref", "#/$defs/tokens"}}; }

private:
    [[nodiscard]] schema_json integer(std::int64_t most) const {
        schema_json schema{{"type", "integer"}, {"minimum", field.lowest}};
        if (std::min(most, field.highest) != INT64_MAX) schema["maximum"] = std::min(most, field.highest);
        return schema;
    }
};

schema_json described(const std::string& meaning, const std::string& fallback, schema_json schema) {
    schema_json whole{{"description", fmt::format("{}; default: {}", meaning, fallback.empty() ? "empty" : fallback)}};
    whole.update(schema);
    return whole;
}

schema_json schema_of_fields(const BoundFields& fields, const ConfigRows& rows) {
    schema_json schema{{"type", "object"}, {"additionalProperties", false}};
    schema["properties"] = schema_json::object();
    for (const BoundField& field : fields.all) {
        if (field.info->required) schema["required"].push_back(field.info->name);
        schema["properties"][field.info->name] =
            described(field.info->meaning, default_text(field), std::visit(SchemaOf{*field.info, rows}, field.value));
    }
    return schema;
}

/// Any row has a key "name".
schema_json schema_of_stages(const ConfigRows& rows) {
    schema_json schema = schema_of_rows(rows.middlewares, "type", true, rows, {});
    for (schema_json& branch : schema["allOf"]) {
        const std::string type = branch["then"]["properties"]["type"]["const"];
        branch["then"]["properties"]["name"] = described(std::string(stage_name_meaning), type, {{"type", "string"}});
    }
    return schema;
}

schema_json schema_of(const TopKey& key, const ConfigRows& rows) {
    if (!key.words.empty()) return {{"enum", key.words}};
    if (key.name == "middlewares") return list_of(schema_of_stages(rows));
    return {{"type", "object"}, {"additionalProperties", schema_of_rows(rows.models, "type", true, rows, {})}};
}

}  // namespace

std::string whole_schema(const BoundFields& fields, const std::vector<TopKey>& others, const ConfigRows& rows) {
    schema_json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                       {"title", "A chain of whittle"},
                       {"description",
                        "What one key alone may be. What several keys say together, and whole numbers that are written "
                        "as 1e3 or 1000.0, only `whittle config check` sees."}};
    schema.update(schema_of_fields(fields, rows));
    for (const TopKey& key : others)
        schema["properties"][key.name] = described(key.meaning, key.fallback, schema_of(key, rows));
    schema["$defs"]["storage"] = schema_of_storage(rows);
    schema["$defs"]["tokens"] = schema_of_rows(rows.counters, "counter", false, rows, {});
    return schema.dump(2);
}

}  // namespace whittle::inline v0::detail
