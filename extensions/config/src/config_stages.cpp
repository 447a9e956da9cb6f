#include "config_stages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace whittle::inline v0::detail {

namespace {

StageNode node_of(NodeId at, const std::shared_ptr<const MiddlewareRow>& row, std::any config) {
    return {.at = at, .row = row, .settings = {.name = row->name, .type = row->name, .config = std::move(config)}};
}

/// The preset's stage that the entry `at` of that type changes; null: none.
StageNode* preset_stage_of(ConfigReader& reader, NodeId at, const MiddlewareRow& row, std::vector<StageNode>& stages) {
    const NodeId name_at = reader.json().member(at, "name");
    const bool has_name = name_at != JsonPositions::none && reader.json()[name_at].kind == JsonPositions::Kind::string;
    const std::string name = has_name ? reader.json().text(name_at) : row.name;
    const auto found = std::ranges::find_if(stages, [&](const StageNode& stage) {
        return stage.is_preset && stage.row->name == row.name && stage.settings.name == name;
    });
    return found == stages.end() ? nullptr : &*found;
}

void read_entry(ConfigReader& reader, NodeId at, const MiddlewareRow& row, StageSettings& stage) {
    const OtherKeys others{.names = {"type", "name"}, .read = [&](NodeId child, std::string_view key) {
                               if (key == "name") reader.read_text(child, stage.name);
                               return key == "type" || key == "name";
                           }};
    read_row(reader, at, row, stage.config, {stage.storages, stage.models_by_key}, others);
}

/// Names the model that a preset's stage asks.
void take_model_from_environment(StageNode& node, const std::string& model) {
    const BoundFields fields = node.row->bind(node.settings.config);
    if (find_field(fields, "model") != nullptr && !model.empty()) node.settings.models_by_key.emplace("model", model);
}

}  // namespace

std::vector<StageNode> stages_of(PresetConfig preset, NodeId at, const std::string& model) {
    std::vector<StageNode> stages;
    for (TypedConfig& stage : typed_stages(std::move(preset), !model.empty())) {
        const auto row = find_row(core_rows().middlewares, stage.type);
        StageNode& node = stages.emplace_back(node_of(at, row, std::move(stage.config)));
        node.is_preset = node.has_preset = true;
        take_model_from_environment(node, model);
    }
    return stages;
}

void read_stages(ConfigReader& reader, NodeId at, std::vector<StageNode>& stages) {
    if (!reader.check_array(at, "an array of middlewares")) return;
    const JsonPositions& json = reader.json();
    for (NodeId child = json[at].first_child; child != JsonPositions::none; child = json[child].next) {
        const auto row = choose_row(reader, child, "type", "middleware", reader.rows().middlewares);
        if (!row) continue;
        StageNode* stage = preset_stage_of(reader, child, *row, stages);
        if (stage == nullptr) stage = &stages.emplace_back(node_of(child, row, row->defaults()));
        stage->at = child;
        stage->is_preset = false;
        read_entry(reader, child, *row, stage->settings);
    }
}

namespace {

/// The stage's configuration with what `open` makes of its storages.
template <typename Open>
std::any with_storages(const MiddlewareRow& row, const StageSettings& stage, const Open& open) {
    std::any config = stage.config;
    for_each_storage(row.bind(config), "", [&](const std::string& key, std::shared_ptr<Storage>& storage) {
        const auto found = stage.storages.find(key);
        if (found != stage.storages.end() && !found->second.type.empty()) storage = open(found->second);
    });
    return config;
}

}  // namespace

std::any with_closed_storages(const StageNode& stage) {
    return with_storages(*stage.row, stage.settings, [](const StorageSettings&) { return memory_storage(); });
}

std::any with_open_storages(const MiddlewareRow& row, const StageSettings& stage) {
    return with_storages(row, stage, open_storage);
}

std::string changed_settings(const StageNode& stage) {
    std::any config = stage.settings.config;
    std::any defaults = stage.row->defaults();
    std::vector<std::string> members =
        changed_members(stage.row->bind(config), stage.row->bind(defaults), stage.settings.models_by_key);
    if (stage.settings.name != stage.row->name)
        members.insert(members.begin(), "\"name\": " + json_string(stage.settings.name));
    return fmt::format("{{{}}}", fmt::join(members, ", "));
}

void add_stage_keys(std::vector<ConfigKey>& keys, const ConfigRows& rows) {
    std::set<TypeId> listed;
    for (const auto& row : rows.middlewares) {
        const std::string prefix = row->name + ".";
        keys.push_back({prefix + "type", "string", "required", "`" + row->name + "`"});
        keys.push_back({prefix + "name", "string", row->name, std::string(stage_name_meaning)});
        std::any config = row->defaults();
        listed.insert(row->config_type);
        add_field_keys(keys, prefix, row->bind(config), listed);
    }
}

}  // namespace whittle::inline v0::detail
