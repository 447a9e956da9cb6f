#include "config_json_reader.hpp"

#include "whittle/base/text.hpp"
#include "whittle/provider/detail/json_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

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

void read_deadline(ConfigReader& reader, NodeId at, Limits& limits) {
    std::int64_t value = 0;
    if (reader.read_integer(at, 1, INT64_MAX, value)) limits.deadline = std::chrono::milliseconds(value);
}

constexpr std::array<Field<Limits>, 3> limits_fields{{
    {"model_calls", "integer", &shown<&Limits::model_calls>, "model calls in one hook",
     &read_integer<&Limits::model_calls, 0>},
    {"store_bytes", "integer", &shown<&Limits::store_bytes>, "bytes stored in one hook; 0: no limit",
     &read_integer<&Limits::store_bytes, 0>},
    {"deadline_ms", "integer", +[](const Limits& limits) { return std::to_string(limits.deadline.count()); },
     "milliseconds that one hook may take", &read_deadline},
}};

void read_language(ConfigReader& reader, NodeId at, Draft& draft) {
    constexpr std::array languages{Language::english, Language::chinese};
    const std::array<std::string_view, 2> codes{code_of(languages[0]), code_of(languages[1])};
    if (const auto found = reader.read_word(at, "language", codes)) draft.config.language = languages[*found];
}

constexpr std::array on_error_values{OnError::skip, OnError::propagate};
constexpr std::array<std::string_view, 2> on_error_words{"skip", "propagate"};

void read_on_error(ConfigReader& reader, NodeId at, Draft& draft) {
    if (const auto found = reader.read_word(at, "value", on_error_words))
        draft.config.on_error = on_error_values[*found];
}

std::string shown_on_error(const Draft& draft) {
    return word_of(draft.config.on_error, on_error_values, on_error_words);
}

constexpr std::array on_prefix_edit_values{OnPrefixEdit::mark, OnPrefixEdit::drop};
constexpr std::array<std::string_view, 2> on_prefix_edit_words{"mark", "drop"};

void read_on_prefix_edit(ConfigReader& reader, NodeId at, Draft& draft) {
    if (const auto found = reader.read_word(at, "value", on_prefix_edit_words))
        draft.config.on_prefix_edit = on_prefix_edit_values[*found];
}

std::string shown_on_prefix_edit(const Draft& draft) {
    return word_of(draft.config.on_prefix_edit, on_prefix_edit_values, on_prefix_edit_words);
}

void read_preset(ConfigReader& reader, NodeId at, Draft& draft) {
    std::vector<std::string_view> names;
    for (const Preset preset : presets()) names.push_back(name_of(preset));
    draft.preset_at = at;
    if (const auto found = reader.read_word(at, "preset", names)) draft.preset = presets()[*found];
}

template <auto Member>
void read_config(ConfigReader& reader, NodeId at, Draft& draft) {
    read_value<Member>(reader, at, draft.config);
}

template <auto Member>
std::string shown_config(const Draft& draft) {
    return shown<Member>(draft.config);
}

constexpr std::array<Field<Draft>, 15> top_fields{{
    {"preset", "string", "none",
     "a whole chain, which the other keys change: `recommended`, `lossless`, `local` or `cheap`", &read_preset},
    {"profile", "object", "{}", "the agent's model",
     [](ConfigReader& r, NodeId at, Draft& d) { read_profile(r, at, d.config.profile); }},
    {"tokens", "object", "{}", "how tokens are counted",
     [](ConfigReader& r, NodeId at, Draft& d) { read_tokens(r, at, d.config.token_counter); }},
    {"language", "string", "the library's", "of notices: `en` or `zh`", &read_language},
    {"storage", "object", "none", "takes what is cut out; none: the journal alone keeps it",
     [](ConfigReader& r, NodeId at, Draft& d) { read_storage(r, at, d.storage); }},
    {"models", "object", "{}", "models by name, for middlewares that ask one",
     [](ConfigReader& r, NodeId at, Draft& d) { read_models(r, at, d.models); }},
    {"on_error", "string", &shown_on_error, "a failing middleware: `skip` it and report, or `propagate` the error",
     &read_on_error},
    {"dry_run", "true or false", &shown_config<&ChainConfig::dry_run>, "plan and report, write nothing",
     &read_config<&ChainConfig::dry_run>},
    {"explain", "true or false", &shown_config<&ChainConfig::explain>, "reports list every candidate with its rule",
     &read_config<&ChainConfig::explain>},
    {"verify", "true or false", &shown_config<&ChainConfig::verify>,
     "check every edit against the rules of `profile.validity`", &read_config<&ChainConfig::verify>},
    {"repair", "true or false", &shown_config<&ChainConfig::repair>,
     "mend what breaks the rules of `profile.validity` before each model call", &read_config<&ChainConfig::repair>},
    {"on_prefix_edit", "string", &shown_on_prefix_edit,
     "with `profile.thinking_bound_to_prefix`: `mark` the request, or `drop` thinking that an edit made void",
     &read_on_prefix_edit},
    {"limits", "object", "{}", "bounds of one hook",
     [](ConfigReader& r, NodeId at, Draft& d) { read_object<Limits>(r, at, d.config.limits, limits_fields); }},
    {"protected_tools", "array of strings", &shown_config<&ChainConfig::protected_tools>,
     "tools whose results no middleware takes out", &read_config<&ChainConfig::protected_tools>},
    {"middlewares", "array of objects", "[]", "in the order in which they run; `type` says which",
     [](ConfigReader&, NodeId at, Draft& d) { d.stages_at = at; }},
}};

/// What the file leaves to its preset.
void take_preset(const ConfigReader& reader, Draft& draft) {
    const JsonPositions& json = reader.json();
    const NodeId profile = json.member(JsonPositions::root, "profile");
    const bool has_cache = profile != JsonPositions::none && json.member(profile, "cache") != JsonPositions::none;
    PresetConfig preset = preset_config(*draft.preset, draft.config.profile);
    if (!has_cache) {
        draft.config.profile.cache = preset.chain.profile.cache;
        complete_prices(json, profile, draft.config.profile);
    }
    if (json.member(JsonPositions::root, "storage") == JsonPositions::none)
        draft.storage.type = StorageSettings::Type::memory;
    const std::string model = draft.models.empty() ? std::string() : draft.models.front().name;
    draft.nodes = stages_of(std::move(preset), draft.preset_at, model);
}

Draft read_draft(ConfigReader& reader) {
    Draft draft;
    read_object<Draft>(reader, JsonPositions::root, draft, top_fields);
    const bool is_unknown_preset = draft.preset_at != JsonPositions::none && !draft.preset;
    if (is_unknown_preset) reader.throw_if_problems();  // what else would be missed may come from it
    if (draft.preset) take_preset(reader, draft);
    if (draft.stages_at != JsonPositions::none) read_stages(reader, draft.stages_at, draft.nodes);
    return draft;
}

}  // namespace

bool is_top_level_key(std::string_view name) noexcept {
    return std::ranges::any_of(top_fields, [&](const Field<Draft>& field) { return field.name == name; });
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
    if (draft.storage.type != StorageSettings::Type::none) config.storage = memory_storage();
    return config;
}

/// Adds models that stages call by their providers' names.
void add_named_models(const ConfigSource& source, Draft& draft) {
    if (!source.knows_model) return;
    const auto add = [&](const std::string& name) {
        if (name.empty() || std::ranges::count(draft.models, name, &ModelSettings::name) > 0) return;
        if (source.knows_model(name))
            draft.models.push_back({.name = name, .type = ModelSettings::Type::named, .model = name});
    };
    for (const StageNode& stage : draft.nodes) add(stage.settings.model), add(stage.settings.failover_model);
}

/// A stage's models must be among those of the file, or known to the host.
void check_models(ConfigReader& reader, const Draft& draft, const StageNode& stage) {
    std::vector<std::string_view> names;
    for (const ModelSettings& model : draft.models) names.push_back(model.name);
    const auto check_name = [&](const std::string& name, std::string_view field) {
        const NodeId at = locate(reader.json(), stage.at, field);
        if (!name.empty() && std::ranges::count(names, name) == 0) reader.unknown(at, "model", name, names);
    };
    check_name(stage.settings.model, "model");
    check_name(stage.settings.failover_model, "failover.model");
}

/// A field as a check names it, without the name of its middleware in front.
std::string key_of(std::string_view field, std::string_view middleware) {
    if (field.starts_with('.')) return std::string(field.substr(1));
    const bool has_name = field.starts_with(middleware) && field.substr(middleware.size()).starts_with('.');
    return std::string(has_name ? field.substr(middleware.size() + 1) : field);
}

void check_stage(ConfigReader& reader, const Draft& draft, const StageNode& stage, const StagePlace& place) {
    check_models(reader, draft, stage);
    Problems problems;
    stage.type->check(stage.settings, place, problems);
    for (Problem problem : problems.all()) {
        problem.field = key_of(problem.field, stage.settings.name);
        if (stage.is_preset) problem.field = stage.settings.name + "." + problem.field;
        place_problem(reader, stage.at, problem, stage.has_preset ? " (of the preset)" : " (the default)");
    }
}

std::string_view task_of(const StageNode& stage) {
    const auto* own = std::get_if<RegisteredConfig>(&stage.settings.config);
    return own != nullptr ? own->type->task : stage.type->task;
}

void check(ConfigReader& reader, const Draft& draft) {
    const ChainConfig config = as_opened(draft);
    const ChainInfo info{config, {}};
    std::vector<std::string_view> names;
    std::vector<std::string_view> tasks;
    for (const StageNode& stage : draft.nodes) {
        names.push_back(stage.settings.name);
        tasks.push_back(task_of(stage));
    }
    Problems chain_problems;
    check_chain(info, chain_problems);
    for (const Problem& problem : chain_problems.all()) place_problem(reader, JsonPositions::root, problem);
    check_names(reader, draft.nodes);
    const ChainInfo named{config, names, tasks};
    for (const StageNode& stage : draft.nodes) check_stage(reader, draft, stage, {.chain = info, .named = named});
}

/// An entry with what its preset says beside it.
ordered_json written_out(const JsonPositions& json, const StageNode& node) {
    ordered_json entry{{"type", node.type->name}};
    if (!node.is_preset) entry.update(ordered_json::parse(json.raw(node.at)));
    const std::string changed = node.type->changed != nullptr ? node.type->changed(node.settings) : std::string();
    if (!changed.empty()) entry.update(ordered_json::parse(changed));
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
        for (detail::StageNode& stage : draft.nodes) draft.stages.push_back(std::move(stage.settings));
        return std::move(draft);
    });
}

std::string write_out_preset(std::string_view json, const ConfigSource& source) {
    return detail::with_checked(json, source, [](const detail::ConfigReader& reader, const detail::Draft& draft) {
        return detail::written_out(reader.json(), draft);
    });
}

std::string config_schema() {
    const ConfigSource source;
    const detail::JsonPositions json("{}");
    detail::SchemaNotes notes;
    detail::ConfigReader reader(json, source, &notes);
    detail::Draft draft;
    detail::read_object<detail::Draft>(reader, detail::JsonPositions::root, draft, detail::top_fields);
    return detail::whole_schema(notes.schemas_of(detail::JsonPositions::root).front(), detail::schema_of_stages());
}

std::vector<ConfigKey> config_keys(const MiddlewareTypes& types) {
    std::vector<ConfigKey> keys;
    detail::add_keys<detail::Draft>(keys, "", detail::top_fields);
    detail::add_profile_keys(keys);
    detail::add_tokens_keys(keys);
    detail::add_storage_keys(keys);
    detail::add_keys<Limits>(keys, "limits.", detail::limits_fields);
    detail::add_models_keys(keys);
    detail::add_stage_keys(keys);
    for (const auto& type : types.all()) detail::add_registered_keys(keys, *type);
    return keys;
}

}  // namespace whittle::inline v0
