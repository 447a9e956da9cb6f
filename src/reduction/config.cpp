#include "whittle/reduction/config.hpp"

#include "../chain/size_in_window.hpp"
#include "whittle/base/detail/names.hpp"
#include "whittle/base/detail/saturating.hpp"
#include "whittle/chain/middleware_type.hpp"
#include "whittle/fields/detail/check_numbers.hpp"
#include "whittle/reduction/detail/truncation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <variant>

namespace whittle::inline v0 {

std::shared_ptr<Storage> backend_for(const ReductionConfig& config, std::string_view tool,
                                     const std::shared_ptr<Storage>& of_chain) {
    const ToolReductionConfig* settings = find_for_tool(config.tool_config, tool);
    if (settings != nullptr && settings->backend) return settings->backend;
    return config.backend ? config.backend : of_chain;
}

std::string default_object_key(const ReductionConfig& config, std::string_view conversation, std::string_view phase,
                               std::string_view name) {
    const std::string_view root = config.root_dir.empty() ? conversation : std::string_view(config.root_dir);
    std::string key;
    key.reserve(root.size() + phase.size() + name.size() + 2);
    key.append(root).append("/").append(phase).append("/").append(name);
    return key;
}

ClearingLimits limits_of(const ReductionConfig& config, std::int64_t window) noexcept {
    return {
        .trigger_tokens = detail::size_in_window(config.max_tokens_for_clear, config.max_fraction_for_clear, window),
        .trigger_tokens_if_cache_cold = detail::size_in_window(0, config.clear_fraction_if_cache_cold, window),
        .target = detail::size_in_window(config.clear_target_tokens, config.clear_target_fraction, window)};
}

bool clears_thinking(const ReductionConfig& config) noexcept {
    return config.clear_thinking_keep_turns.has_value() || config.clear_thinking_keep_tokens > 0;
}

std::size_t retained_rounds(const ReductionConfig& config) noexcept {
    return static_cast<std::size_t>(std::max(1, config.clear_retention_suffix_limit));
}

namespace {

void check_root(const ReductionConfig& config, FieldCheck& check) {
    check.error(!config.root_dir.empty() && !is_valid_key(config.root_dir), "root_dir", config.root_dir,
                "a valid key prefix: components of [A-Za-z0-9_.-] joined by /, no leading /");
}

/// `tokens_field`, or `fraction_field` where that is what counts.
std::string_view field_in_force(double fraction, std::int64_t window, std::string_view tokens_field,
                                std::string_view fraction_field) {
    return fraction > 0.0 && window > 0 ? fraction_field : tokens_field;
}

void check_clearing_limits(const ReductionConfig& config, const ModelProfile& profile, FieldCheck& check) {
    const std::int64_t window = profile.context_window;
    const ClearingLimits limits = limits_of(config, window);
    const auto due_field =
        field_in_force(config.max_fraction_for_clear, window, "max_tokens_for_clear", "max_fraction_for_clear");
    const auto target_field =
        field_in_force(config.clear_target_fraction, window, "clear_target_tokens", "clear_target_fraction");
    check.warn(limits.target >= limits.trigger_tokens, target_field, std::to_string(limits.target),
               fmt::format("below {} ({}), else each clearing stops at once", due_field, limits.trigger_tokens));
    check.warn(limits.trigger_tokens_if_cache_cold > 0 && limits.trigger_tokens_if_cache_cold >= limits.trigger_tokens,
               "clear_fraction_if_cache_cold", std::to_string(limits.trigger_tokens_if_cache_cold),
               fmt::format("below {} ({}), else it never counts", due_field, limits.trigger_tokens));
    check.warn(limits.trigger_tokens_if_cache_cold > 0 && limits.target >= limits.trigger_tokens_if_cache_cold,
               target_field, std::to_string(limits.target),
               fmt::format("below clear_fraction_if_cache_cold ({}), else an early clearing stops at once",
                           limits.trigger_tokens_if_cache_cold));
    const std::int64_t room = sub_saturating(window, profile.output_reserve);
    check.warn(window > 0 && !config.skip_clear && limits.trigger_tokens >= room, due_field,
               std::to_string(limits.trigger_tokens),
               fmt::format("below the context window less the output reserve ({}), else it comes too late", room));
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

bool lacks_stream(Storage& storage) {
    try {
        return !storage.can_stream();
    } catch (const std::exception&) {  // it may be down just now
        return false;
    }
}

/// What is longer than what is held is lost but for its ends.
void check_streams(const ReductionConfig& config, const ChainInfo& chain, FieldCheck& check) {
    const auto warn = [&](const std::shared_ptr<Storage>& storage, const std::string& field) {
        check.warn(storage && lacks_stream(*storage), field, "a store that cannot stream (no open_writer)",
                   fmt::format("one that can: a result that is written in pieces is held in memory, and beyond "
                               "max_buffered_bytes_for_store ({} bytes) only its ends are kept",
                               config.max_buffered_bytes_for_store));
    };
    if (!config.skip_truncation) warn(config.backend ? config.backend : chain.config.storage, "backend");
    for (const auto& [tool, own] : config.tool_config) {
        if (!own.skip_truncation.value_or(config.skip_truncation))
            warn(own.backend, "tool_config." + tool + ".backend");
    }
}

}  // namespace

void check_tool_callbacks(const ToolReductionCallbacks& callbacks, std::string_view name, std::string_view tool,
                          Problems& problems) {
    if (!callbacks.trunc_handler || !callbacks.trunc_sink) return;
    problems.error(fmt::format("{}.tool_config.{}.trunc_sink", name, tool), "set beside trunc_handler",
                   "one of the two: the sink passes a result on as it comes, the handler sees it whole");
}

namespace {

/// What a tool's own settings cannot do, since something else comes first.
class VoidSettings {
public:
    VoidSettings(const ReductionConfig& config, const ChainInfo& chain, FieldCheck& check)
        : config_(config), chain_(chain), check_(check) {}

    void check(const std::string& tool, const ToolReductionConfig& own) {
        check_.warn(own.skip_truncation == false && !never_truncated(tool).empty(), field(tool, "skip_truncation"),
                    "false", never_truncated(tool));
        check_.warn(own.skip_clear == false && !never_cleared(tool).empty(), field(tool, "skip_clear"), "false",
                    never_cleared(tool));
    }

    void check(const std::string& tool, const ToolReductionCallbacks& own) {
        const ToolReductionConfig* settings = find_for_tool(config_.tool_config, tool);
        const auto is_off = [&](const std::optional<bool> ToolReductionConfig::*skip, bool otherwise) {
            return settings != nullptr ? (settings->*skip).value_or(otherwise) : otherwise;
        };
        const std::string no_truncation =
            is_off(&ToolReductionConfig::skip_truncation, config_.skip_truncation)
                ? "a tool whose results are truncated: skip_truncation comes first, so that it is never called"
                : never_truncated(tool);
        const std::string no_clearing = is_off(&ToolReductionConfig::skip_clear, config_.skip_clear)
                                            ? "a tool whose results are cleared: skip_clear comes first, so that it is "
                                              "never called"
                                            : never_cleared(tool);
        const bool truncates = own.trunc_handler || own.trunc_sink;
        check_.warn(truncates && !no_truncation.empty(), field(tool, own.trunc_sink ? "trunc_sink" : "trunc_handler"),
                    "set", no_truncation);
        check_.warn(own.clear_handler && !no_clearing.empty(), field(tool, "clear_handler"), "set", no_clearing);
    }

private:
    [[nodiscard]] static std::string field(const std::string& tool, std::string_view member) {
        return fmt::format("tool_config.{}.{}", tool, member);
    }
    [[nodiscard]] std::string never_truncated(const std::string& tool) const {
        if (!matches_tool(config_.trunc_exclude_tools, tool)) return {};
        return "a tool that is not in trunc_exclude_tools: that list comes first, so that this has no effect";
    }
    [[nodiscard]] std::string never_cleared(const std::string& tool) const {
        const bool is_excluded = matches_tool(config_.clear_exclude_tools, tool);
        if (!is_excluded && !matches_tool(chain_.config.protected_tools, tool)) return {};
        return fmt::format("a tool that is not in {}: that list comes first, so that this has no effect",
                           is_excluded ? "clear_exclude_tools" : "the chain's protected_tools");
    }

    const ReductionConfig& config_;
    const ChainInfo& chain_;
    FieldCheck& check_;
};

}  // namespace

void check_tool_names(const ReductionConfig& config, const std::map<std::string, ToolReductionCallbacks>& callbacks,
                      const ChainInfo& chain, std::string_view name, Problems& problems) {
    FieldCheck check(name, problems);
    check.tool_names(config.trunc_exclude_tools, "trunc_exclude_tools");
    check.tool_names(config.clear_exclude_tools, "clear_exclude_tools");
    if (const auto* inputs = std::get_if<std::vector<std::string>>(&config.clear_tool_inputs))
        check.tool_names(*inputs, "clear_tool_inputs");
    VoidSettings settings(config, chain, check);
    for (const auto& [tool, own] : config.tool_config) {
        check.tool_names(std::array{tool}, "tool_config");
        settings.check(tool, own);
    }
    for (const auto& [tool, own] : callbacks) {
        check.tool_names(std::array{tool}, "tool_config");
        settings.check(tool, own);
    }
}

void check_reduction(const ReductionConfig& config, const ChainInfo& chain, std::string_view name, Problems& problems) {
    FieldCheck check(name, problems);
    check_backend(config, chain, check);
    detail::check_numbers(config, reduction_type().fields, check);
    for (const auto& [tool, settings] : config.tool_config)
        check.at_least(settings.max_length_for_trunc.value_or(1), 1, "tool_config." + tool + ".max_length_for_trunc");
    check_streams(config, chain, check);
    check.error(config.read_file_tool_name.empty(), "read_file_tool_name", "\"\"", "the name of a tool");
    check_root(config, check);
    check_clearing_limits(config, chain.config.profile, check);
}

}  // namespace whittle::inline v0
