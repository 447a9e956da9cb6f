#include "whittle/compaction/config.hpp"

#include <array>
#include <charconv>
#include <system_error>

namespace whittle::inline v0 {

namespace {

/// A size, and the fraction that would stand in its way.
struct SizeVariable {
    std::string_view name;
    std::int64_t CompactionConfig::*tokens;
    double CompactionConfig::*fraction;
};

constexpr std::array<SizeVariable, 3> size_variables{{
    {"AGENT_COMPACTION_THRESHOLD", &CompactionConfig::threshold_tokens, &CompactionConfig::threshold_fraction},
    {"AGENT_COMPACTION_TARGET", &CompactionConfig::target_tokens, &CompactionConfig::target_fraction},
    {"AGENT_COMPACTION_SUMMARY_SIZE", &CompactionConfig::summary_size_tokens, &CompactionConfig::summary_fraction},
}};

}  // namespace

void detail::read_compaction_environment(CompactionConfig& config, const EnvironmentLookup& lookup,
                                         Problems& problems) {
    if (!lookup) return;
    for (const SizeVariable& variable : size_variables) {
        const std::optional<std::string> text = lookup(variable.name);
        if (!text || text->empty()) continue;
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
        if (error != std::errc() || end != text->data() + text->size() || value < 1) {
            problems.error(std::string(variable.name), *text, "an integer of 1 or more");
            continue;
        }
        config.*variable.tokens = value;
        config.*variable.fraction = 0.0;
    }
}

CompactionConfig with_environment_variables(CompactionConfig config, const EnvironmentLookup& lookup) {
    Problems problems;
    detail::read_compaction_environment(config, lookup, problems);
    problems.throw_if_errors("read the environment");
    return config;
}

}  // namespace whittle::inline v0
