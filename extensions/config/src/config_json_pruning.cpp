#include "config_json_reader.hpp"

#include <array>
#include <span>

namespace whittle::inline v0::detail {

namespace {

struct PruningDraft : PruningConfig {
    std::string name = "pruning";
    StorageSettings own_storage{};
};

using PC = PruningConfig;

/// Those of a stage of its own come first.
constexpr std::size_t stage_fields = 3;
constexpr std::array<Field<PruningDraft>, 17> pruning_fields{{
    {"type", "string", "required", "`pruning`", &skip<PruningDraft>},
    {"name", "string", &shown<&PruningDraft::name>, name_meaning, &read_value<&PruningDraft::name>},
    {"storage", "object", "the chain's", "own storage; keys as in `storage`", &read_own_storage<PruningDraft>},
    {"protected_tools", "array of strings", &shown<&PC::protected_tools>,
     "beside those of the chain: their results are never pruned", &read_value<&PC::protected_tools>},
    {"skip_boundary_turns", "integer", &shown<&PC::skip_boundary_turns>,
     "user turns at the end that stay; 0: the open round only", &read_integer<&PC::skip_boundary_turns, 0>},
    {"protect_current_turn_only", "true or false", &shown<&PC::protect_current_turn_only>,
     "with fewer turns than that: the newest one stays, instead of all", &read_value<&PC::protect_current_turn_only>},
    {"prune_failed_results", "true or false", &shown<&PC::prune_failed_results>, "prune results of failed calls too",
     &read_value<&PC::prune_failed_results>},
    {"protect_newest_tokens", "integer", &shown<&PC::protect_newest_tokens>,
     "tokens of the newest prunable results before the boundary that stay",
     &read_integer<&PC::protect_newest_tokens, 0>},
    {"minimum_gain_tokens", "integer", &shown<&PC::minimum_gain_tokens>, "prune nothing unless this much gets free",
     &read_integer<&PC::minimum_gain_tokens, 0>},
    {"placeholder",
     "string",
     {"built in", &shown<&PC::placeholder>},
     "empty: says what was pruned and where it is",
     &read_value<&PC::placeholder>},
    {"partial", "true or false", &shown<&PC::partial>, "keep head and tail of a text around the placeholder",
     &read_value<&PC::partial>},
    {"head_bytes", "integer", &shown<&PC::head_bytes>, "bytes kept of the start, with `partial`",
     &read_integer<&PC::head_bytes, 0>},
    {"tail_bytes", "integer", &shown<&PC::tail_bytes>, "bytes kept of the end, with `partial`",
     &read_integer<&PC::tail_bytes, 0>},
    {"fit_limits", "true or false", &shown<&PC::fit_limits>,
     "keep the request within the images and bytes that the provider takes", &read_value<&PC::fit_limits>},
    {"limits_target_fraction", "number", &shown<&PC::limits_target_fraction>,
     "of such a limit that is exceeded, how much is left", &read_fraction<&PC::limits_target_fraction>},
    {"head_lines", "integer", &shown<&PC::head_lines>, "first lines kept, of at most `head_bytes`; 0: all of these",
     &read_integer<&PC::head_lines, 0>},
    {"tail_lines", "integer", &shown<&PC::tail_lines>, "last lines kept, of at most `tail_bytes`; 0: all of these",
     &read_integer<&PC::tail_lines, 0>},
}};

void read_pruning(ConfigReader& reader, NodeId at, StageSettings& stage) {
    PruningDraft draft;
    read_object<PruningDraft>(reader, at, draft, pruning_fields);
    to_stage<PruningConfig>(draft, stage);
}

void check_pruning_stage(const StageSettings& stage, const StagePlace&, Problems& problems) {
    check_pruning(std::get<PruningConfig>(stage.config), "", problems);
}

void add_pruning_keys(std::vector<ConfigKey>& keys) { add_keys<PruningDraft>(keys, "pruning.", pruning_fields); }

}  // namespace

extern const StageType pruning_type;
const StageType pruning_type{"pruning", &read_pruning, &check_pruning_stage, &add_pruning_keys};

void read_pruning(ConfigReader& reader, NodeId at, PruningConfig& config) {
    PruningDraft draft;
    read_object<PruningDraft>(reader, at, draft, std::span(pruning_fields).subspan(stage_fields));
    config = static_cast<PruningConfig&>(draft);
}

}  // namespace whittle::inline v0::detail
