#include "config_json_reader.hpp"

#include <array>
#include <limits>

namespace whittle::inline v0::detail {

namespace {

struct ToolDraft : ToolReductionConfig {
    StorageSettings storage{};
};

struct ReductionDraft : ReductionConfig {
    std::string name = "reduction";
    StorageSettings storage{};
    std::map<std::string, StorageSettings> tool_backends{};
};

template <typename Draft>
void read_backend(ConfigReader& reader, NodeId at, Draft& draft) {
    read_storage(reader, at, draft.storage);
}

void read_tool_length(ConfigReader& reader, NodeId at, ToolDraft& draft) {
    std::int64_t bytes = 0;
    if (reader.read_integer(at, 1, std::numeric_limits<std::int64_t>::max(), bytes)) draft.max_length_for_trunc = bytes;
}

constexpr std::array<Field<ToolDraft>, 4> tool_fields{{
    {"backend", "object", "inherited", "own storage for this tool's results; keys as in `storage`",
     &read_backend<ToolDraft>},
    {"skip_truncation",
     "true or false",
     {"inherited", &shown<&ToolReductionConfig::skip_truncation>},
     "wins over the middleware's own setting",
     &read_value<&ToolReductionConfig::skip_truncation>},
    {"skip_clear",
     "true or false",
     {"inherited", &shown<&ToolReductionConfig::skip_clear>},
     "wins over the middleware's own setting",
     &read_value<&ToolReductionConfig::skip_clear>},
    {"max_length_for_trunc", "integer", "inherited", "bytes of text that one result of this tool keeps",
     &read_tool_length},
}};

void read_tool_config(ConfigReader& reader, NodeId at, ReductionDraft& reduction) {
    read_map(reader, at, [&](NodeId child, const std::string& tool) {
        ToolDraft draft;
        read_object<ToolDraft>(reader, child, draft, tool_fields);
        reduction.tool_config[tool] = draft;
        if (draft.storage.type != StorageSettings::Type::none) reduction.tool_backends[tool] = draft.storage;
    });
}

void read_clear_tool_inputs(ConfigReader& reader, NodeId at, ReductionDraft& reduction) {
    if (reader.json()[at].kind == JsonPositions::Kind::array) {
        std::vector<std::string> tools;
        if (reader.read_texts(at, tools)) reduction.clear_tool_inputs = std::move(tools);
        return;
    }
    bool all = false;
    const std::string_view raw = reader.json().raw(at);
    if (raw != "true" && raw != "false") return reader.unexpected(at, "true, false or an array of tool names");
    if (reader.read_flag(at, all)) reduction.clear_tool_inputs = all;
}

void read_keep_turns(ConfigReader& reader, NodeId at, ReductionDraft& reduction) {
    std::int64_t value = 0;
    if (reader.read_integer(at, 0, std::numeric_limits<int>::max(), value))
        reduction.clear_thinking_keep_turns = static_cast<int>(value);
}

using RC = ReductionConfig;
constexpr std::array<Field<ReductionDraft>, 28> reduction_fields{{
    {"type", "string", "required", "`reduction`", &skip<ReductionDraft>},
    {"name", "string", &shown<&ReductionDraft::name>, name_meaning, &read_value<&ReductionDraft::name>},
    {"backend", "object", "the chain's", "own storage; keys as in `storage`", &read_backend<ReductionDraft>},
    {"skip_truncation", "true or false", &shown<&RC::skip_truncation>, "do not shorten results when they return",
     &read_value<&RC::skip_truncation>},
    {"skip_clear", "true or false", &shown<&RC::skip_clear>, "do not clear old tool rounds",
     &read_value<&RC::skip_clear>},
    {"read_file_tool_name", "string", &shown<&RC::read_file_tool_name>,
     "tool that notices name, if the request lists it", &read_value<&RC::read_file_tool_name>},
    {"root_dir",
     "string",
     {"the conversation's id", &shown<&RC::root_dir>},
     "prefix of the keys of stored objects",
     &read_value<&RC::root_dir>},
    {"max_length_for_trunc", "integer", &shown<&RC::max_length_for_trunc>, "bytes of text that one result keeps",
     &read_integer<&RC::max_length_for_trunc, 1>},
    {"max_tokens_for_trunc", "integer", &shown<&RC::max_tokens_for_trunc>, "the same limit in tokens; 0: off",
     &read_integer<&RC::max_tokens_for_trunc, 0>},
    {"trunc_head_lines", "integer", &shown<&RC::trunc_head_lines>,
     "first lines that stay of a truncated text, in half the limit; 0: all of that half",
     &read_integer<&RC::trunc_head_lines, 0>},
    {"trunc_tail_lines", "integer", &shown<&RC::trunc_tail_lines>,
     "last lines that stay, in the other half; 0: all of that half", &read_integer<&RC::trunc_tail_lines, 0>},
    {"trunc_exclude_tools", "array of strings", &shown<&RC::trunc_exclude_tools>,
     "tools whose results are never truncated", &read_value<&RC::trunc_exclude_tools>},
    {"max_tokens_for_clear", "integer", &shown<&RC::max_tokens_for_clear>, "clearing is due above this many tokens",
     &read_integer<&RC::max_tokens_for_clear, 1>},
    {"max_fraction_for_clear", "number", &shown<&RC::max_fraction_for_clear>,
     "instead: above this part of the model's window, once it is known; 0: off",
     &read_fraction<&RC::max_fraction_for_clear>},
    {"free_fraction_for_clear", "number", &shown<&RC::free_fraction_for_clear>,
     "due above this part where it breaks no prompt cache: after a pause, or behind a commit of `trimming`; 0: off",
     &read_fraction<&RC::free_fraction_for_clear>},
    {"clear_tool_inputs", "true, false or array of strings", "false",
     "clear the arguments of cleared calls too: of all tools, or of these", &read_clear_tool_inputs},
    {"keep_failed", "true or false", &shown<&RC::keep_failed>, "do not clear the results of calls that failed",
     &read_value<&RC::keep_failed>},
    {"clear_failed_inputs", "true or false", &shown<&RC::clear_failed_inputs>,
     "clear the arguments of failed calls too, once their rounds are old", &read_value<&RC::clear_failed_inputs>},
    {"clear_thinking_keep_turns",
     "integer",
     {"all", &shown<&RC::clear_thinking_keep_turns>},
     "newest replies that think whose thinking stays when clearing is due",
     &read_keep_turns},
    {"clear_thinking_keep_tokens", "integer", &shown<&RC::clear_thinking_keep_tokens>,
     "tokens of the newest thinking that stays when clearing is due; 0: no limit",
     &read_integer<&RC::clear_thinking_keep_tokens, 0>},
    {"clear_retention_suffix_limit", "integer", &shown<&RC::clear_retention_suffix_limit>,
     "newest tool rounds kept; 0 is 1", &read_integer<&RC::clear_retention_suffix_limit, 0>},
    {"clear_at_least_tokens", "integer", &shown<&RC::clear_at_least_tokens>, "clear nothing unless this much gets free",
     &read_integer<&RC::clear_at_least_tokens, 0>},
    {"clear_exclude_tools", "array of strings", &shown<&RC::clear_exclude_tools>,
     "tools whose results are never cleared", &read_value<&RC::clear_exclude_tools>},
    {"clear_target_tokens", "integer", &shown<&RC::clear_target_tokens>,
     "clear oldest first, until below this; 0: all that may be cleared", &read_integer<&RC::clear_target_tokens, 0>},
    {"clear_target_fraction", "number", &shown<&RC::clear_target_fraction>,
     "instead: down to this part of the model's window, once it is known; 0: off",
     &read_fraction<&RC::clear_target_fraction>},
    {"max_bytes_without_store", "integer", &shown<&RC::max_bytes_without_store>,
     "bytes kept if a result cannot be stored; 0: eight times `max_length_for_trunc`",
     &read_integer<&RC::max_bytes_without_store, 0>},
    {"max_bytes_without_stream", "integer", &shown<&RC::max_bytes_without_stream>,
     "bytes of a written result held for a store that cannot stream; a longer one cannot be stored",
     &read_integer<&RC::max_bytes_without_stream, 0>},
    {"tool_config", "object", "{}", "settings by tool name", &read_tool_config},
}};

/// An entry that changes a preset's stage means the tokens that it gives, not the parts of the window that the preset
/// has.
void drop_preset_fractions(const JsonPositions& json, NodeId at, ReductionDraft& draft) {
    const auto gives = [&](std::string_view key) { return json.member(at, key) != JsonPositions::none; };
    if (gives("max_tokens_for_clear")) {
        if (!gives("max_fraction_for_clear")) draft.max_fraction_for_clear = 0.0;
        if (!gives("free_fraction_for_clear")) draft.free_fraction_for_clear = 0.0;
    }
    if (gives("clear_target_tokens") && !gives("clear_target_fraction")) draft.clear_target_fraction = 0.0;
}

void read_reduction(ConfigReader& reader, NodeId at, StageSettings& stage) {
    auto draft = draft_of<ReductionDraft, ReductionConfig>(stage);
    read_object<ReductionDraft>(reader, at, draft, reduction_fields);
    drop_preset_fractions(reader.json(), at, draft);
    stage.name = draft.name;
    stage.backend = draft.storage;
    stage.tool_backends = draft.tool_backends;
    stage.config = static_cast<ReductionConfig&>(draft);
}

/// The settings as the middleware will have them once its storages are open: nothing is opened for a check.
ReductionConfig as_opened(const StageSettings& settings) {
    ReductionConfig config = std::get<ReductionConfig>(settings.config);
    if (settings.backend.type != StorageSettings::Type::none) config.backend = memory_storage();
    for (const auto& [tool, backend] : settings.tool_backends) config.tool_config[tool].backend = memory_storage();
    return config;
}

void check_reduction_stage(const StageSettings& stage, const StagePlace& place, Problems& problems) {
    check_reduction(as_opened(stage), place.chain, "", problems);
}

void add_reduction_keys(std::vector<ConfigKey>& keys) {
    add_keys<ReductionDraft>(keys, "reduction.", reduction_fields);
    add_keys<ToolDraft>(keys, "reduction.tool_config.TOOL.", tool_fields);
}

std::string changed_reduction(const StageSettings& stage) {
    return changed_object<ReductionDraft>(draft_of<ReductionDraft, ReductionConfig>(stage), reduction_fields);
}

}  // namespace

extern const StageType reduction_type;
const StageType reduction_type{"reduction", &read_reduction,   &check_reduction_stage, &add_reduction_keys,
                               {},          &changed_reduction};

ReductionConfig open_backends(const StageSettings& stage, ReductionConfig config) {
    if (auto backend = open_storage(stage.backend)) config.backend = std::move(backend);
    for (const auto& [tool, settings] : stage.tool_backends) config.tool_config[tool].backend = open_storage(settings);
    return config;
}

}  // namespace whittle::inline v0::detail
