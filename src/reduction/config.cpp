#include "whittle/reduction/config.hpp"

#include <fmt/format.h>

#include <variant>

namespace whittle::inline v0 {

namespace {

constexpr std::string_view not_built = "not built yet in this version";

class Check {
public:
    Check(std::string_view name, Problems& problems) : name_(name), problems_(problems) {}

    void at_least(std::int64_t value, std::int64_t lowest, std::string_view field) {
        if (value < lowest) problems_.error(full(field), std::to_string(value), fmt::format("{} or more", lowest));
    }
    void refuse(bool given, std::string_view field, std::string_view value, std::string_view instead) {
        if (given) problems_.error(full(field), std::string(value), fmt::format("{}: {}", instead, not_built));
    }
    void warn(bool doubtful, std::string_view field, std::int64_t value, std::string allowed) {
        if (doubtful) problems_.warning(full(field), std::to_string(value), std::move(allowed));
    }
    [[nodiscard]] std::string full(std::string_view field) const { return fmt::format("{}.{}", name_, field); }

private:
    std::string_view name_;
    Problems& problems_;
};

void check_root(const ReductionConfig& config, const Check& check, Problems& problems) {
    if (config.root_dir.empty() || is_valid_key(config.root_dir)) return;
    problems.error(check.full("root_dir"), config.root_dir,
                   "a valid key prefix: components of [A-Za-z0-9_.-] joined by /, no leading /");
}

bool wants_truncation(const ReductionConfig& config) {
    for (const auto& [tool, settings] : config.tool_config) {
        if (!settings.skip_truncation.value_or(config.skip_truncation)) return true;
    }
    return !config.skip_truncation;
}

}  // namespace

void check_reduction(const ReductionConfig& config, const ChainInfo& chain, std::string_view name, Problems& problems) {
    Check check(name, problems);
    check.refuse(wants_truncation(config), "skip_truncation", "false", "true");
    check.refuse(config.clear_tool_inputs != ClearToolInputs(false), "clear_tool_inputs", "set", "false");
    check.at_least(config.max_length_for_trunc, 1, "max_length_for_trunc");
    check.at_least(config.max_tokens_for_trunc, 0, "max_tokens_for_trunc");
    check.at_least(config.max_tokens_for_clear, 1, "max_tokens_for_clear");
    check.at_least(config.clear_retention_suffix_limit, 0, "clear_retention_suffix_limit");
    check.at_least(config.clear_at_least_tokens, 0, "clear_at_least_tokens");
    check.at_least(config.clear_target_tokens, 0, "clear_target_tokens");
    check.at_least(config.max_bytes_without_store, 0, "max_bytes_without_store");
    if (config.read_file_tool_name.empty())
        problems.error(check.full("read_file_tool_name"), "\"\"", "the name of a tool");
    check_root(config, check, problems);
    check.warn(
        config.clear_target_tokens >= config.max_tokens_for_clear, "clear_target_tokens", config.clear_target_tokens,
        fmt::format("below max_tokens_for_clear ({}), else each clearing stops at once", config.max_tokens_for_clear));
    const std::int64_t room = chain.config.profile.context_window - chain.config.profile.output_reserve;
    check.warn(chain.config.profile.context_window > 0 && !config.skip_clear && config.max_tokens_for_clear >= room,
               "max_tokens_for_clear", config.max_tokens_for_clear,
               fmt::format("below the context window less the output reserve ({}), else it comes too late", room));
}

}  // namespace whittle::inline v0
