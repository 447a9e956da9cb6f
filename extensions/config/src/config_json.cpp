#include "config_schema.hpp"
#include "config_stages.hpp"

#include "whittle/chain/detail/chain.hpp"
#include "whittle/chain/detail/chain_fields.hpp"

#include "whittle/base/detail/type_id.hpp"
#include "whittle/base/text.hpp"
#include "whittle/provider/detail/json_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace whittle::inline v0 {

namespace detail {

namespace {

constexpr std::size_t max_config_bytes = 16U << 20U;
constexpr std::size_t max_config_depth = 32;

struct Draft : ChainSettings {
    std::optional<Preset> preset{};
    NodeId preset_at = JsonPositions::none;
    NodeId stages_at = JsonPositions::none;
    std::vector<StageNode> nodes{};
};

/// The keys of the chain's own settings, with the profiles that `rows` has.
FieldTable table_of_chain(const ConfigRows& rows) {
    std::vector<const ValidityProfile*> rules;
    for (const auto& profile : rows.rules) rules.push_back(profile.get());
    return table_of(chain_fields(rows.caches, rules));
}

/// The other keys of a configuration.
const std::vector<TopKey>& top_keys() {
    static const std::vector<TopKey> keys = [] {
        std::vector<std::string> names;
        for (const Preset preset : presets()) names.emplace_back(to_string(preset));
        return std::vector<TopKey>{
            {"preset", "string", "none",
             "a whole chain, which the other keys change: `recommended`, `lossless`, `local` or `cheap`", names},
            {"models", "object", "{}", "models by name, for middlewares that ask one", {}},
            {"middlewares", "array of objects", "[]", "in the order in which they run; `type` says which", {}},
        };
    }();
    return keys;
}

void read_preset(ConfigReader& reader, NodeId at, Draft& draft) {
    std::vector<std::string_view> names;
    for (const Preset preset : presets()) names.push_back(to_string(preset));
    draft.preset_at = at;
    if (const auto found = reader.read_word(at, "preset", names)) draft.preset = presets()[*found];
}

void read_model(ConfigReader& reader, NodeId at, const std::string& name, std::vector<ModelSettings>& models) {
    const auto& rows = reader.rows().models;
    const auto row = choose_row(reader, at, "type", "model", rows);
    if (!row) return;
    ModelSettings& model = models.emplace_back(
        ModelSettings{.name = name, .type = row->name, .config = row->defaults(), .types = reader.source().types});
    StageSettings none;
    read_row(reader, at, *row, model.config, {none.storages, none.models_by_key},
             {.names = {"type"},
              .read = [](NodeId, std::string_view key) { return key == "type"; },
              .only_for_type = [&](std::string_view key) { return names_of_rows_with(rows, "the type", key); }});
}

/// Reads a key that is none of the chain's own; false: there is none of that name.
bool read_top_key(ConfigReader& reader, NodeId at, std::string_view key, Draft& draft) {
    if (key == "preset") return read_preset(reader, at, draft), true;
    if (key == "middlewares") return draft.stages_at = at, true;
    if (key != "models") return false;
    reader.read_members(at,
                        [&](NodeId child, const std::string& name) { read_model(reader, child, name, draft.models); });
    return true;
}

void read_top(ConfigReader& reader, Draft& draft) {
    const FieldTable table = table_of_chain(reader.rows());
    const BoundFields fields = table.bind(&draft.config);
    draft.storage_settings = {.lookup = reader.source().lookup, .types = reader.source().types};
    StageSettings refs;
    reader.read_members(JsonPositions::root, [&](NodeId child, const std::string& key) {
        if (read_top_key(reader, child, key, draft)) return;
        const BoundField* field = find_field(fields, key);
        if (field != nullptr) return read_field(reader, child, *field, {refs.storages, refs.models_by_key});
        std::vector<std::string_view> names;
        for (const TopKey& known : top_keys()) names.push_back(known.name);
        for (const BoundField& known : fields.all) names.push_back(known.info->name);
        reader.unknown(child, "key", key, names);
    });
    if (const auto found = refs.storages.find("storage"); found != refs.storages.end() && !found->second.type.empty())
        draft.storage_settings = std::move(found->second);
}

/// Prices that the profile does not give follow its cache.
void complete_prices(const JsonPositions& json, ModelProfile& profile) {
    if (!profile.prices) return;
    const NodeId at = json.member(json.member(JsonPositions::root, "profile"), "prices");
    const auto lacks = [&](std::string_view key) { return json.member(at, key) == JsonPositions::none; };
    if (lacks("cache_read")) profile.prices->cache_read = profile.prices->input * profile.cache.read;
    if (lacks("cache_write")) profile.prices->cache_write = profile.prices->input * profile.cache.write;
}

/// What the file leaves to its preset.
void take_preset(const ConfigReader& reader, Draft& draft) {
    const JsonPositions& json = reader.json();
    const NodeId profile = json.member(JsonPositions::root, "profile");
    const bool has_cache = profile != JsonPositions::none && json.member(profile, "cache") != JsonPositions::none;
    PresetConfig preset = preset_config(*draft.preset, draft.config.profile);
    if (!has_cache) draft.config.profile.cache = preset.chain.profile.cache;
    if (json.member(JsonPositions::root, "storage") == JsonPositions::none) {
        draft.storage_settings.type = "memory";
        draft.storage_settings.config = MemoryStorageOptions{};
    }
    const std::string model = draft.models.empty() ? std::string() : draft.models.front().name;
    draft.nodes = stages_of(std::move(preset), draft.preset_at, model);
}

Draft read_draft(ConfigReader& reader) {
    Draft draft;
    read_top(reader, draft);
    const bool is_unknown_preset = draft.preset_at != JsonPositions::none && !draft.preset;
    if (is_unknown_preset) reader.throw_if_problems();  // what else would be missed may come from it
    if (draft.preset) take_preset(reader, draft);
    complete_prices(reader.json(), draft.config.profile);
    if (draft.stages_at != JsonPositions::none) read_stages(reader, draft.stages_at, draft.nodes);
    return draft;
}

}  // namespace

bool is_top_level_key(std::string_view name) {
    static const FieldTable table = table_of_chain({});
    ChainConfig config;
    return find_field(table.bind(&config), name) != nullptr ||
           std::ranges::any_of(top_keys(), [&](const TopKey& key) { return key.name == name; });
}

namespace {

/// The deepest node on the way to a dotted name.
NodeId locate(const JsonPositions& json, NodeId at, std::string_view field) {
    while (!field.empty()) {
        const std::size_t dot = field.find('.');
        const NodeId child = json.member(at, field.substr(0, dot));
        if (child == JsonPositions::none) return at;
        at = child;
        field.remove_prefix(dot == std::string_view::npos ? field.size() : dot + 1);
    }
    return at;
}

/// Says about `problem`, whose field is a dotted name below `base`, where it stands in the file.
void place_problem(ConfigReader& reader, NodeId base, const Problem& problem,
                   std::string_view default_text = " (the default)") {
    const NodeId at = locate(reader.json(), base, problem.field);
    const std::string prefix = reader.json().path(base);
    const std::string path = prefix + (prefix.empty() || problem.field.empty() ? "" : ".") + problem.field;
    if (reader.has_problem_at(path)) return;
    const bool is_default = reader.json().path(at) != path;
    const std::string text =
        fmt::format("found {}{}, expected {}", problem.value, is_default ? default_text : "", problem.allowed);
    if (problem.severity == Problem::Severity::warning) {
        reader.warning(at, path, text);
    } else {
        reader.problem(at, path, text);
    }
}

void check_names(ConfigReader& reader, const std::vector<StageNode>& stages) {
    std::set<std::string_view> seen;
    for (const StageNode& stage : stages) {
        const std::string& name = stage.settings.name;
        const NodeId at = locate(reader.json(), stage.at, "name");
        if (name.empty() || name == chain_notes)
            reader.problem(at, "found \"" + name + "\", expected a name other than \"\" and \"chain\"");
        if (!seen.insert(name).second)
            reader.problem(at, "a second middleware named \"" + name + "\"; give each a \"name\" of its own");
    }
}

/// The settings as the chain will have them once its storages are open: nothing is opened for a check.
ChainConfig as_opened(const Draft& draft) {
    ChainConfig config = draft.config;
    if (!draft.storage_settings.type.empty()) config.storage = memory_storage();
    return config;
}

/// Adds models that stages call by their providers' names.
void add_named_models(const ConfigSource& source, Draft& draft) {
    if (!source.host_makes_model) return;
    const auto add = [&](const std::string& name) {
        if (name.empty() || std::ranges::count(draft.models, name, &ModelSettings::name) > 0) return;
        if (source.host_makes_model(name)) draft.models.push_back({.name = name});
    };
    for (const StageNode& stage : draft.nodes) {
        for (const auto& [key, name] : stage.settings.models_by_key) add(name);
    }
}

/// A stage's models must be among those of the file, or known to the host.
void check_models(ConfigReader& reader, const Draft& draft, const StageNode& stage) {
    std::vector<std::string_view> names;
    for (const ModelSettings& model : draft.models) names.push_back(model.name);
    for (const auto& [key, name] : stage.settings.models_by_key) {
        const NodeId at = locate(reader.json(), stage.at, key);
        if (!name.empty() && std::ranges::count(names, name) == 0) reader.unknown(at, "model", name, names);
    }
}

/// A field as a check names it, without the name of its middleware in front.
std::string key_of(std::string_view field, std::string_view middleware) {
    if (field.starts_with('.')) return std::string(field.substr(1));
    const bool has_name = field.starts_with(middleware) && field.substr(middleware.size()).starts_with('.');
    return std::string(has_name ? field.substr(middleware.size() + 1) : field);
}

void check_stage(ConfigReader& reader, const Draft& draft, const StageNode& stage, const ChainInfo& chain) {
    check_models(reader, draft, stage);
    Problems problems;
    stage.row->check(with_closed_storages(stage), chain, stage.settings.name, problems);
    for (Problem problem : problems.all()) {
        problem.field = key_of(problem.field, stage.settings.name);
        if (stage.is_preset) problem.field = stage.settings.name + "." + problem.field;
        place_problem(reader, stage.at, problem, stage.has_preset ? " (of the preset)" : " (the default)");
    }
}

void check(ConfigReader& reader, const Draft& draft) {
    const ChainConfig config = as_opened(draft);
    const ChainInfo info{config, {}};
    std::vector<std::string_view> names;
    std::vector<std::string_view> tasks;
    for (const StageNode& stage : draft.nodes) {
        names.push_back(stage.settings.name);
        tasks.push_back(stage.row->task);
    }
    Problems chain_problems;
    check_chain(info, chain_problems);
    for (const Problem& problem : chain_problems.all()) place_problem(reader, JsonPositions::root, problem);
    check_names(reader, draft.nodes);
    const ChainInfo named{config, names, tasks};
    for (const StageNode& stage : draft.nodes) check_stage(reader, draft, stage, named);
}

/// An entry with what its preset says beside it.
ordered_json written_out(const JsonPositions& json, const StageNode& node) {
    ordered_json entry{{"type", node.row->name}};
    const ordered_json given = node.is_preset ? ordered_json::object() : ordered_json::parse(json.raw(node.at));
    entry.update(given);
    if (!node.has_preset) return entry;
    ordered_json whole = ordered_json::parse(changed_settings(node));
    whole.update(given, true);
    entry.update(whole);
    return entry;
}

std::string written_out(const JsonPositions& json, const Draft& draft) {
    ordered_json text = ordered_json::parse(json.raw(JsonPositions::root));
    if (!draft.preset) return text.dump(2);
    text.erase("preset");
    if (!text.contains("profile") || !text["profile"].contains("cache"))
        text["profile"]["cache"] = draft.config.profile.cache.name;
    if (!text.contains("storage")) text["storage"]["type"] = "memory";
    text.erase("middlewares");
    for (const StageNode& node : draft.nodes) text["middlewares"].push_back(written_out(json, node));
    return text.dump(2);
}

[[noreturn]] void fail_syntax(std::string_view json, const ConfigSource& source, std::size_t offset,
                              std::string_view reason) {
    const TextPlace place = place_of(json, offset);
    throw Error(Errc::invalid_config, fmt::format("read configuration: 1 problem\n{}:{}:{}: {}", source.name,
                                                  place.line, place.column, reason));
}

void require_json(std::string_view json, const ConfigSource& source) {
    if (json.size() > max_config_bytes)
        fail_syntax(json, source, max_config_bytes,
                    fmt::format("{} bytes are more than a configuration has ({})", json.size(), max_config_bytes));
    const std::size_t zero = json.find('\0');
    if (zero != std::string_view::npos) fail_syntax(json, source, zero, "a zero byte");
    JsonBuilder builder(max_config_depth, nullptr);
    if (ordered_json::sax_parse(json, &builder)) return;
    if (builder.too_deep())
        fail_syntax(json, source, offset_of_depth(json, max_config_depth),
                    fmt::format("nested deeper than {} levels", max_config_depth));
    fail_syntax(json, source, builder.error_offset(), to_valid_utf8(builder.error_text()));
}

}  // namespace

}  // namespace detail

namespace detail {

namespace {

/// The keys of the whole.
std::vector<ConfigKey> keys_of_top(const BoundFields& fields) {
    const auto key_of_top = [](const TopKey& key) {
        return ConfigKey{key.name, key.type, key.fallback, key.meaning, {}};
    };
    std::vector<ConfigKey> keys{key_of_top(top_keys()[0])};
    for (const BoundField& field : fields.all) {
        add_own_key(keys, "", field);
        if (field.info->name == "storage") keys.push_back(key_of_top(top_keys()[1]));
    }
    keys.push_back(key_of_top(top_keys()[2]));
    return keys;
}

/// The keys of its sections.
void add_section_keys(std::vector<ConfigKey>& keys, const BoundFields& fields, const ConfigRows& rows) {
    std::set<TypeId> listed;
    for (const BoundField& field : fields.all) {
        const std::string prefix = field.info->name + ".";
        if (const auto* object = std::get_if<BoundObject>(&field.value))
            add_field_keys(keys, prefix, object->defaults(), listed);
        if (std::holds_alternative<std::shared_ptr<const TokenCounter>*>(field.value))
            add_row_keys(keys, prefix, "counter", rows.counters.front()->name, rows.counters);
        if (!std::holds_alternative<std::shared_ptr<Storage>*>(field.value)) continue;
        add_row_keys(keys, prefix, "type", "required", rows.stores);
        for (const auto& row : rows.around) {
            std::any around = row->defaults();
            add_field_keys(keys, prefix, row->bind(around), listed);
        }
    }
    add_row_keys(keys, "models.NAME.", "type", "required", rows.models);
}

/// What `use` makes of the configuration once all of it was read and is in order.
template <typename Use>
auto with_checked(std::string_view json, const ConfigSource& source, const Use& use) {
    require_json(json, source);
    const JsonPositions positions(json);
    ConfigReader reader(positions, source);
    Draft draft = read_draft(reader);
    add_named_models(source, draft);
    check(reader, draft);
    reader.throw_if_problems();
    return use(reader, draft);
}

}  // namespace

}  // namespace detail

ChainSettings read_chain_settings(std::string_view json, const ConfigSource& source) {
    return detail::with_checked(json, source, [](detail::ConfigReader& reader, detail::Draft& draft) -> ChainSettings {
        draft.warnings = reader.take_warnings();
        draft.types = reader.source().types;
        for (detail::StageNode& stage : draft.nodes) draft.stages.push_back(std::move(stage.settings));
        return std::move(draft);
    });
}

std::string expand_preset(std::string_view json, const ConfigSource& source) {
    return detail::with_checked(json, source, [](const detail::ConfigReader& reader, const detail::Draft& draft) {
        return detail::written_out(reader.json(), draft);
    });
}

std::string config_schema(const ConfigTypes& types) {
    const detail::ConfigRows rows = detail::with_core(detail::rows_of(types));
    const auto table = detail::table_of_chain(rows);
    ChainConfig config;
    return detail::whole_schema(table.bind(&config), detail::top_keys(), rows);
}

std::vector<ConfigKey> config_keys(const ConfigTypes& types) {
    const detail::ConfigRows rows = detail::with_core(detail::rows_of(types));
    const auto table = detail::table_of_chain(rows);
    ChainConfig config;
    std::vector<ConfigKey> keys = detail::keys_of_top(table.bind(&config));
    detail::add_section_keys(keys, table.bind(&config), rows);
    detail::add_stage_keys(keys, rows);
    return keys;
}

}  // namespace whittle::inline v0
