#include "config_json_reader.hpp"

#include <array>
#include "whittle/release_context/release_context.hpp"

namespace whittle::inline v0::detail {

namespace {

struct ReleaseDraft : ReleaseContextConfig {
    std::string name = "release_context";
    StorageSettings own_storage{};
};

using Release = ReleaseContextConfig;

constexpr std::array<Field<ReleaseDraft>, 6> release_fields{{
    {"type", "string", "required", "`release_context`", &skip<ReleaseDraft>},
    {"name", "string", &shown<&ReleaseDraft::name>, name_meaning, &read_value<&ReleaseDraft::name>},
    {"storage", "object", "the chain's", "own storage; keys as in `storage`", &read_own_storage<ReleaseDraft>},
    {"tool_name", "string", &shown<&Release::tool_name>, "of the tool that the chain offers",
     &read_value<&Release::tool_name>},
    {"protected_tools", "array of strings", &shown<&Release::protected_tools>,
     "beside those of the chain: their results are never released", &read_value<&Release::protected_tools>},
    {"expected_calls", "integer", &shown<&Release::expected_calls>,
     "calls in which a release has to pay for what is read anew, at least", &read_integer<&Release::expected_calls, 0>},
}};

void read_release_context(ConfigReader& reader, NodeId at, StageSettings& stage) {
    ReleaseDraft draft;
    read_object<ReleaseDraft>(reader, at, draft, release_fields);
    to_stage<ReleaseContextConfig>(draft, stage);
}

void check_release_context_stage(const StageSettings& stage, const StagePlace&, Problems& problems) {
    check_release_context(std::get<ReleaseContextConfig>(stage.config), "", problems);
}

void add_release_context_keys(std::vector<ConfigKey>& keys) {
    add_keys<ReleaseDraft>(keys, "release_context.", release_fields);
}

}  // namespace

extern const StageType release_context_type;
const StageType release_context_type{"release_context", &read_release_context, &check_release_context_stage,
                                     &add_release_context_keys};

}  // namespace whittle::inline v0::detail
