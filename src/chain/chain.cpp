#include "whittle/chain/chain.hpp"

#include "whittle/base/detail/names.hpp"
#include "whittle/conversation/read_offloaded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace whittle::inline v0 {

std::string_view to_string(RunOutcome outcome) noexcept {
    switch (outcome) {
        case RunOutcome::answered: return "answered";
        case RunOutcome::return_direct: return "return_direct";
        case RunOutcome::step_limit: return "step_limit";
        case RunOutcome::stopped: return "stopped";
        case RunOutcome::failed: return "failed";
    }
    return "unknown";
}

std::size_t ChainInfo::count_same_task_before(std::string_view name) const noexcept {
    const auto place = static_cast<std::size_t>(std::ranges::find(middlewares, name) - middlewares.begin());
    if (place >= exclusive_tasks.size() || exclusive_tasks[place].empty()) return 0;
    return static_cast<std::size_t>(std::ranges::count(exclusive_tasks.first(place), exclusive_tasks[place]));
}

void check_reader(const StoreUse& use, const ChainInfo& chain, std::span<const ToolSpec> tools, Problems& problems) {
    const bool has_chains = chain.config.storage != nullptr;  // then a loop offers the tools
    if ((has_chains || use.own != nullptr) && reader_among(tools, use.reader_tool).empty()) {
        problems.warning(use.field, "",
                         fmt::format("what is stored can be read back only if the request has the tool {} or {}",
                                     use.reader_tool, read_offloaded_name));
    }
    const bool has_fetch = std::ranges::find(tools, fetch_media_name, &ToolSpec::name) != tools.end();
    if (use.has_media && use.own != nullptr && !has_chains && !has_fetch) {
        problems.warning(use.field, "",
                         fmt::format("media that are stored can be seen again only if the request has the tool {}",
                                     fetch_media_name));
    }
}

namespace detail {

namespace {

void check_not_null(const void* pointer, std::string_view field, Problems& problems) {
    if (pointer == nullptr)
        problems.error(std::string(field), "null", "an object; leave the field out for the default");
}

void check_not_negative(std::int64_t value, std::string_view field, Problems& problems) {
    if (value < 0) problems.error(std::string(field), std::to_string(value), "0 or more");
}

void check_cache(const CacheProfile& cache, Problems& problems) {
    if (!(cache.read >= 0.0))
        problems.error("profile.cache.read", fmt::format("{}", cache.read), "a price factor of 0 or more");
    if (!(cache.write >= 0.0))
        problems.error("profile.cache.write", fmt::format("{}", cache.write), "a price factor of 0 or more");
    check_not_negative(cache.ttl_seconds, "profile.cache.ttl_seconds", problems);
    check_not_negative(cache.min_prefix_tokens, "profile.cache.min_prefix_tokens", problems);
    if (cache.prefix_step_tokens < 1)
        problems.error("profile.cache.prefix_step_tokens", std::to_string(cache.prefix_step_tokens),
                       "1 or more tokens");
}

void check_stage_names(const ChainInfo& info, Problems& problems) {
    std::set<std::string_view> seen;
    for (const std::string_view name : info.middlewares) {
        if (name == "(null)") problems.error("middlewares", "null", "a middleware");
        if (name.empty() || name == chain_notes || (info.config.repair && name == repair_name)) {
            problems.error("middlewares", fmt::format("\"{}\"", name),
                           info.config.repair ? "a name other than \"\", \"chain\" and \"repair\""
                                              : "a name other than \"\" and \"chain\"");
        }
        if (!seen.insert(name).second)
            problems.error("middlewares", fmt::format("two named \"{}\"", name), "distinct names");
    }
}

}  // namespace

void check_hook_limits(const HookLimits& limits, Problems& problems) {
    check_not_negative(limits.model_calls, "limits.model_calls", problems);
    check_not_negative(limits.store_bytes, "limits.store_bytes", problems);
    if (limits.deadline.count() <= 0)
        problems.error("limits.deadline", fmt::format("{} ms", limits.deadline.count()), "more than 0 ms");
}

void check_chain(const ChainInfo& info, Problems& problems) {
    const ChainConfig& c = info.config;
    check_not_null(c.token_counter.get(), "token_counter", problems);
    check_not_null(c.clock.get(), "clock", problems);
    check_not_null(c.ids.get(), "ids", problems);
    check_not_null(c.random.get(), "random", problems);
    check_not_negative(c.profile.context_window, "profile.context_window", problems);
    check_not_negative(c.profile.output_reserve, "profile.output_reserve", problems);
    if (c.profile.context_window > 0 && c.profile.output_reserve >= c.profile.context_window) {
        problems.error("profile.output_reserve", std::to_string(c.profile.output_reserve),
                       fmt::format("less than profile.context_window ({})", c.profile.context_window));
    }
    check_cache(c.profile.cache, problems);
    check_hook_limits(c.limits, problems);
    check_stage_names(info, problems);
    for (const std::string& tool : c.protected_tools) {
        if (may_name_tool(tool)) continue;
        problems.warning("protected_tools", fmt::format("\"{}\"", tool),
                         "the name of a tool, qualified or bare; there are no wildcards, so that this means none");
    }
}

std::vector<Tool> own_tools(const ChainConfig& config) {
    if (!config.storage) return {};
    return {read_offloaded_tool(nullptr, {.description_language = config.language})};
}

void emit_warning(const EventSink& events, const Problem& problem) noexcept {
    try {
        const std::string text = to_string(problem);
        emit(events, {.level = Event::Level::warning, .source = "chain", .kind = "warning", .text = text});
    } catch (...) {
    }
}

}  // namespace detail

std::span<const CacheProfile> cache_profiles() noexcept {
    static const std::array<CacheProfile, 6> profiles{{
        {.name = "anthropic_5m", .read = 0.1, .write = 1.25, .ttl_seconds = 300, .min_prefix_tokens = 1'024},
        {.name = "anthropic_1h", .read = 0.1, .write = 2.0, .ttl_seconds = 3'600, .min_prefix_tokens = 1'024},
        {.name = "openai",
         .read = 0.1,
         .write = 1.0,
         .ttl_seconds = 600,
         .min_prefix_tokens = 1'024,
         .prefix_step_tokens = 128},
        {.name = "openai_2026",
         .read = 0.1,
         .write = 1.25,
         .ttl_seconds = 1'800,
         .min_prefix_tokens = 1'024,
         .prefix_step_tokens = 128},
        {.name = "local", .read = 0.05, .write = 1.0, .ttl_seconds = 86'400},
        {.name = "no_cache"},
    }};
    return profiles;
}

const CacheProfile* find_cache_profile(std::string_view name) noexcept {
    const auto all = cache_profiles();
    const auto found = std::ranges::find(all, name, &CacheProfile::name);
    return found == all.end() ? nullptr : &*found;
}

}  // namespace whittle::inline v0
