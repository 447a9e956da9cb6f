#include "config_json_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace whittle::inline v0::detail {

extern const StageType reduction_type;
extern const StageType trimming_type;
extern const StageType condensing_type;
extern const StageType summarization_type;
extern const StageType token_saving_type;
extern const StageType pruning_type;
extern const StageType release_context_type;
extern const StageType compaction_type;
extern const StageType registered_type;

namespace {

/// In the order of the documentation.
constexpr std::array stage_types{&reduction_type,    &trimming_type, &condensing_type,      &summarization_type,
                                 &token_saving_type, &pruning_type,  &release_context_type, &compaction_type};

std::vector<std::string_view> type_names(const MiddlewareTypes& own) {
    std::vector<std::string_view> names;
    for (const StageType* type : stage_types) names.push_back(type->name);
    for (const auto& type : own.all()) names.push_back(type->name);
    return names;
}

/// The index in `names` of the type of the object `at`; nullopt with a problem.
std::optional<std::size_t> read_type(ConfigReader& reader, NodeId at, std::span<const std::string_view> names) {
    if (reader.json()[at].kind != JsonPositions::Kind::object) {
        reader.unexpected(at, "an object");
        return std::nullopt;
    }
    const NodeId type = reader.json().member(at, "type");
    if (type == JsonPositions::none) {
        reader.missing(at, "type", fmt::format("\"{}\"", fmt::join(names, "\" or \"")));
        return std::nullopt;
    }
    return reader.read_word(type, "middleware", names);
}

/// `type`: an index in `type_names`.
StageNode node_of(NodeId at, std::size_t type, const MiddlewareTypes& own) {
    if (type < stage_types.size()) return {.at = at, .type = stage_types[type]};
    StageNode node{.at = at, .type = &registered_type};
    node.settings.config = RegisteredConfig{.type = own.all()[type - stage_types.size()]};
    return node;
}

/// The preset's stage that the entry `at` of that type changes; null: none.
StageNode* preset_stage_of(ConfigReader& reader, NodeId at, const StageType& type, std::vector<StageNode>& stages) {
    const NodeId name_at = reader.json().member(at, "name");
    const bool has_name = name_at != JsonPositions::none && reader.json()[name_at].kind == JsonPositions::Kind::string;
    const std::string name = has_name ? reader.json().text(name_at) : std::string(type.name);
    const auto found = std::ranges::find_if(stages, [&](const StageNode& stage) {
        return stage.is_preset && stage.type == &type && stage.settings.name == name;
    });
    return found == stages.end() ? nullptr : &*found;
}

}  // namespace

std::vector<StageNode> stages_of(PresetConfig preset, NodeId at, const std::string& model) {
    std::vector<StageNode> stages;
    const auto add = [&](const StageType& type, StageConfig config) {
        StageSettings settings{.name = std::string(type.name), .config = std::move(config)};
        stages.push_back(
            {.at = at, .type = &type, .settings = std::move(settings), .is_preset = true, .has_preset = true});
    };
    add(trimming_type, std::move(preset.trimming));
    add(reduction_type, std::move(preset.reduction));
    auto last = last_stage(preset, !model.empty());
    if (!last) return stages;
    add(summarization_type, *std::move(last));
    stages.back().settings.model = model;
    return stages;
}

void read_stages(ConfigReader& reader, NodeId at, std::vector<StageNode>& stages) {
    if (!reader.check_array(at, "an array of middlewares")) return;
    const JsonPositions& json = reader.json();
    const MiddlewareTypes& own = reader.source().types;
    const std::vector<std::string_view> names = type_names(own);
    for (NodeId child = json[at].first_child; child != JsonPositions::none; child = json[child].next) {
        const auto type = read_type(reader, child, names);
        if (!type) continue;
        StageNode node = node_of(child, *type, own);
        StageNode* stage = preset_stage_of(reader, child, *node.type, stages);
        if (stage == nullptr) stage = &stages.emplace_back(std::move(node));
        stage->at = child;
        stage->is_preset = false;
        stage->type->read(reader, child, stage->settings);
    }
}

bool is_built_in(std::string_view type) noexcept {
    return std::ranges::any_of(stage_types, [&](const StageType* known) { return known->name == type; });
}

std::string schema_of_stages() {
    const ConfigSource source;
    std::vector<std::pair<std::string_view, std::string>> schemas;
    for (const StageType* type : stage_types) {
        const std::string text = fmt::format("{{\"type\": \"{}\"}}", type->name);
        const JsonPositions json(text);
        SchemaNotes notes;
        ConfigReader reader(json, source, &notes);
        StageSettings settings{.model = "m"};  // which a preset, or another key, may make needless
        type->read(reader, JsonPositions::root, settings);
        schemas.emplace_back(type->name, notes.schemas_of(JsonPositions::root).front());
    }
    return schema_by_type(schemas);
}

void add_stage_keys(std::vector<ConfigKey>& keys) {
    for (const StageType* type : stage_types) type->add_keys(keys);
}

}  // namespace whittle::inline v0::detail
