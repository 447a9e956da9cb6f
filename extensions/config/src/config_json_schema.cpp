#include "config_json_schema.hpp"

#include "config_json_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace whittle::inline v0::detail {

namespace {

using schema_json = nlohmann::ordered_json;

/// Where nobody asked about a value: what the table says of it.
std::string schema_of_type(std::string_view type) {
    if (type == "string") return R"({"type":"string"})";
    if (type.starts_with("array")) return R"({"type":"array"})";
    if (type == "object") return R"({"type":"object"})";
    return "{}";
}

std::vector<std::string> alternatives_of(const SchemaKey& key, const ConfigSource& source,
                                         const std::function<void(ConfigReader&, NodeId)>& read) {
    std::vector<std::string> found;
    for (const std::string_view sample : {"true", "0", R"("A")", "[]", R"({"NAME":{}})"}) {
        const std::string text = fmt::format("{{{}:{}}}", json_string(key.name), sample);
        const JsonPositions json(text);
        SchemaNotes notes;
        ConfigReader reader(json, source, &notes);
        const NodeId at = json.member(JsonPositions::root, key.name);
        read(reader, at);
        for (std::string& schema : notes.schemas_of(at)) {
            if (std::ranges::find(found, schema) == found.end()) found.push_back(std::move(schema));
        }
    }
    if (found.empty()) found.push_back(schema_of_type(key.type));
    if (key.type == "object or false") found.emplace_back(R"({"const":false})");
    return found;
}

}  // namespace

void SchemaNotes::add(NodeId at, std::string schema) { notes_[at].push_back(std::move(schema)); }

void SchemaNotes::flag(NodeId at) { add(at, R"({"type":"boolean"})"); }

void SchemaNotes::integer(NodeId at, std::int64_t lowest, std::int64_t highest) {
    const std::string most = highest == INT64_MAX ? std::string() : fmt::format(R"(,"maximum":{})", highest);
    add(at, fmt::format(R"({{"type":"integer","minimum":{}{}}})", lowest, most));
}

void SchemaNotes::real(NodeId at, double lowest, double highest) {
    const bool is_open = highest == std::numeric_limits<double>::max();
    const std::string most = is_open ? std::string() : fmt::format(R"(,"maximum":{})", highest);
    add(at, fmt::format(R"({{"type":"number","minimum":{}{}}})", lowest, most));
}

void SchemaNotes::text(NodeId at) { add(at, R"({"type":"string"})"); }

void SchemaNotes::texts(NodeId at) { add(at, R"({"type":"array","items":{"type":"string"}})"); }

void SchemaNotes::words(NodeId at, std::span<const std::string_view> words) {
    std::vector<std::string> quoted;
    for (const std::string_view word : words) quoted.push_back(json_string(word));
    add(at, fmt::format(R"({{"enum":[{}]}})", fmt::join(quoted, ",")));
}

void SchemaNotes::array(NodeId at) { add(at, R"({"type":"array"})"); }

void SchemaNotes::object(NodeId at) { add(at, R"({"type":"object"})"); }

void SchemaNotes::map(NodeId at, NodeId child) {
    const std::vector<std::string> values = schemas_of(child);
    add(at, fmt::format(R"({{"type":"object","additionalProperties":{}}})",
                        values.empty() ? std::string("{}") : values.front()));
}

void SchemaNotes::missing(NodeId at, std::string_view key) { required_[at].emplace(key); }

std::vector<std::string> SchemaNotes::schemas_of(NodeId at) const {
    const auto found = notes_.find(at);
    if (found == notes_.end()) return {};
    std::vector<std::string> schemas = found->second;
    const auto required = required_.find(at);
    if (required == required_.end()) return schemas;
    std::vector<std::string> keys;
    for (const std::string& key : required->second) keys.push_back(json_string(key));
    const std::string member = fmt::format(R"("required":[{}],)", fmt::join(keys, ","));
    for (std::string& schema : schemas) {
        if (schema.starts_with(R"({"type":"object")")) schema.insert(1, member);
    }
    return schemas;
}

void ObjectSchema::add(const SchemaKey& key, const std::function<void(ConfigReader&, JsonPositions::NodeId)>& read) {
    const std::vector<std::string> found = alternatives_of(key, source_, read);
    std::string schema = found.size() == 1 ? found.front() : fmt::format(R"({{"anyOf":[{}]}})", fmt::join(found, ","));
    const std::string meaning =
        fmt::format("{}; default: {}", key.meaning, key.fallback.empty() ? "empty" : key.fallback);
    const bool is_bare = schema == "{}";
    schema.insert(1, fmt::format(R"("description":{}{})", json_string(meaning), is_bare ? "" : ","));
    properties_ += fmt::format("{}{}:{}", properties_.empty() ? "" : ",", json_string(key.name), schema);
}

std::string ObjectSchema::text() const {
    return fmt::format(R"({{"type":"object","additionalProperties":false,"properties":{{{}}}}})", properties_);
}

std::string schema_by_type(std::span<const std::pair<std::string_view, std::string>> schemas) {
    schema_json json{{"type", "object"}, {"required", {"type"}}};
    schema_json& names = json["properties"]["type"]["enum"] = schema_json::array();
    json["allOf"] = schema_json::array();
    for (const auto& [name, schema] : schemas) {
        names.push_back(name);
        schema_json then = schema_json::parse(schema);
        then["properties"]["type"] = {{"const", name}};
        schema_json condition{{"required", {"type"}}};
        condition["properties"]["type"]["const"] = name;
        json["allOf"].push_back({{"if", std::move(condition)}, {"then", std::move(then)}});
    }
    return json.dump();
}

std::string whole_schema(const std::string& top, const std::string& stages) {
    schema_json json{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                     {"title", "A chain of whittle"},
                     {"description",
                      "What one key alone may be. What several keys say together, and whole numbers that are written "
                      "as 1e3 or 1000.0, only `whittle config check` sees."}};
    json.update(schema_json::parse(top));
    json["properties"]["middlewares"]["items"] = schema_json::parse(stages);
    return json.dump(2);
}

}  // namespace whittle::inline v0::detail
