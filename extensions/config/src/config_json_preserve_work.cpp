#include "config_json_reader.hpp"

#include <array>

namespace whittle::inline v0::detail {

namespace {

using Work = PreserveWorkConfig;
constexpr std::array<Field<Work>, 6> work_fields{{
    {"plan_tokens", "integer", &shown<&Work::plan_tokens>, "for the newest plan or task list; 0: none",
     &read_integer<&Work::plan_tokens, 0>},
    {"files_tokens", "integer", &shown<&Work::files_tokens>,
     "for files read and written, with lines, those used last; 0: none", &read_integer<&Work::files_tokens, 0>},
    {"findings_tokens", "integer", &shown<&Work::findings_tokens>, "for reports of sub-agents, the newest; 0: none",
     &read_integer<&Work::findings_tokens, 0>},
    {"max_tokens_per_finding", "integer", &shown<&Work::max_tokens_per_finding>, "of a longer one the head",
     &read_integer<&Work::max_tokens_per_finding, 1>},
    {"plan_tools", "array of strings", &shown<&Work::plan_tools>,
     "tools whose newest arguments are the plan, beside those whose arguments show that they are one",
     &read_value<&Work::plan_tools>},
    {"finding_tools", "array of strings", &shown<&Work::finding_tools>, "tools whose results are reports of sub-agents",
     &read_value<&Work::finding_tools>},
}};

}  // namespace

void read_preserve_work(ConfigReader& reader, NodeId at, PreserveWorkConfig& config) {
    read_object<Work>(reader, at, config, work_fields);
}

std::string changed_preserve_work(const PreserveWorkConfig& config) {
    return changed_object<Work>(config, work_fields);
}

void add_preserve_work_keys(std::vector<ConfigKey>& keys, const std::string& prefix) {
    add_keys<Work>(keys, prefix, work_fields);
}

}  // namespace whittle::inline v0::detail
