#pragma once

#include "whittle/compaction/config.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// Values by name, such as those of a program's environment; nothing: it has no value.
using EnvironmentLookup = std::function<std::optional<std::string>(std::string_view)>;

/// `config` with the sizes that `AGENT_COMPACTION_THRESHOLD`, `AGENT_COMPACTION_TARGET` and
/// `AGENT_COMPACTION_SUMMARY_SIZE` give, in tokens; each replaces its fraction too. An empty value is none.
/// `AGENT_COMPACTION_MODEL` is the caller's, who has the models. Throws one Error(invalid_config) that names each
/// variable which is no integer of 1 or more.
[[nodiscard]] CompactionConfig with_environment(CompactionConfig config, const EnvironmentLookup& lookup);

namespace detail {

/// The same in place; adds what is wrong, under the variable's name, and leaves that size as it was.
void read_compaction_environment(CompactionConfig& config, const EnvironmentLookup& lookup, Problems& problems);

}  // namespace detail

}  // namespace whittle::inline v0
