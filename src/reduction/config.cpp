#include "whittle/reduction/config.hpp"

#include "../base/field_check.hpp"
#include "whittle/base/names.hpp"
#include "whittle/reduction/truncation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

namespace whittle::inline v0 {

std::shared_ptr<Storage> backend_for(const ReductionConfig& config, std::string_view tool,
                                     const std::shared_ptr<Storage>& of_chain) {
    const ToolReductionConfig* settings = find_for_tool(config.tool_config, tool);
    if (settings != nullptr && settings->backend) return settings->backend;
    return config.backend ? config.backend : of_chain;
}

std::string usual_key(const ReductionConfig& config, std::string_view conversation, std::string_view phase,
                      std::string_view name) {
    const std::string_view root = config.root_dir.empty() ? conversation : std::string_view(config.root_dir);
    std::string key;
    key.reserve(root.size() + phase.size() + name.size() + 2);
    key.append(root).append("/").append(phase).append("/").append(name);
    return key;
}

std::size_t retained_rounds(const ReductionConfig& config) noexcept {
    return static_cast<std::size_t>(std::max(1, config.clear_retention_suffix_limit));
}

namespace {

void check_root(const ReductionConfig& config, FieldCheck& check) {
    check.error(!config.root_dir.empty() && !is_valid_key(config.root_dir), "root_dir", config.root_dir,
                "a valid key prefix: components of [A-Za-z0-9_.-] joined by /, no leading /");
}

/// Truncation keeps what it takes out in a store, so each tool whose results are truncated needs one.
void check_backend(const ReductionConfig& config, const ChainInfo& chain, FieldCheck& check) {
    if (config.backend || chain.config.storage) return;
    constexpr auto allowed = "a store here or in the chain's `storage`, or skip_truncation = true";
    check.error(!config.skip_truncation, "backend", "unset", allowed);
    for (const auto& [tool, settings] : config.tool_config) {
        check.error(!settings.skip_truncation.value_or(true) && !settings.backend, "tool_config." + tool + ".backend",
                    "unset", allowed);
    }
}

}  // namespace

void check_tool_callbacks(const ToolReductionCallbacks& callbacks, std::string_view name, std::string_view tool,
                          Problems& problems) {
    if (!callbacks.trunc_handler || !callbacks.trunc_sink) return;
    problems.error(fmt::format("{}.tool_config.{}.trunc_sink", name, tool), "set beside trunc_handler",
                   "one of the two: the sink passes a result on as it comes, the handler sees it whole");
}

void check_reader(const ReductionConfig& config, const ChainInfo& chain, std::string_view name,
                  std::span<const ToolSpec> tools, Problems& problems) {
    const bool stores = config.backend != nullptr || chain.config.storage != nullptr;
    if (!stores || !reader_tool(config, tools).empty()) return;
    problems.warning(
        fmt::format("{}.read_file_tool_name", name), config.read_file_tool_name,
        "a tool of the request, or read_offloaded beside it: else the model cannot read back what is stored");
}

void check_reduction(const ReductionConfig& config, const ChainInfo& chain, std::string_view name, Problems& problems) {
    FieldCheck check(name, problems);
    check_backend(config, chain, check);
    check.at_least(config.max_length_for_trunc, 1, "max_length_for_trunc");
    check.at_least(config.max_tokens_for_trunc, 0, "max_tokens_for_trunc");
    check.at_least(config.max_tokens_for_clear, 1, "max_tokens_for_clear");
    check.at_least(config.clear_retention_suffix_limit, 0, "clear_retention_suffix_limit");
    check.at_least(config.clear_at_least_tokens, 0, "clear_at_least_tokens");
    check.at_least(config.clear_target_tokens, 0, "clear_target_tokens");
    check.at_least(config.max_bytes_without_store, 0, "max_bytes_without_store");
    check.error(config.read_file_tool_name.empty(), "read_file_tool_name", "\"\"", "the name of a tool");
    check_root(config, check);
    check.warn(
        config.clear_target_tokens >= config.max_tokens_for_clear, "clear_target_tokens",
        std::to_string(config.clear_target_tokens),
        fmt::format("below max_tokens_for_clear ({}), else each clearing stops at once", config.max_tokens_for_clear));
    const std::int64_t room = chain.config.profile.context_window - chain.config.profile.output_reserve;
    check.warn(chain.config.profile.context_window > 0 && !config.skip_clear && config.max_tokens_for_clear >= room,
               "max_tokens_for_clear", std::to_string(config.max_tokens_for_clear),
               fmt::format("below the context window less the output reserve ({}), else it comes too late", room));
}

}  // namespace whittle::inline v0
