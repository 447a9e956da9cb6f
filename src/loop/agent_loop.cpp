#include "whittle/loop/agent_loop.hpp"

#include "whittle/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace whittle::inline v0 {

void check_loop(const LoopConfig& config, std::span<const Tool> tools, bool has_model) {
    Problems problems;
    if (!has_model) problems.error("model", "null", "a model");
    if (config.max_steps < 1) problems.error("max_steps", std::to_string(config.max_steps), "1 or more");
    if (config.tool_threads < 1 || config.tool_threads > 64)
        problems.error("tool_threads", std::to_string(config.tool_threads), "1 to 64");
    std::set<std::string_view> names;
    for (const Tool& tool : tools) {
        if (tool.name.empty()) problems.error("tools", "\"\"", "a tool with a name");
        if (!tool.invoke) problems.error("tools." + tool.name + ".invoke", "empty", "a function");
        if (!is_json_object(tool.parameters))
            problems.error("tools." + tool.name + ".parameters", tool.parameters, "a JSON object");
        if (!names.insert(tool.name).second)
            problems.error("tools", fmt::format("two named \"{}\"", tool.name), "distinct names");
    }
    problems.throw_if_errors("make agent loop");
}

namespace detail {

std::string refuse_call(const ToolContext& context, const Tool* tool, std::span<const ToolSpec> specs) {
    if (tool == nullptr) {
        std::string text = fmt::format("there is no tool named \"{}\"; the tools are:", context.tool);
        for (const ToolSpec& spec : specs) text += " " + spec.name;
        return text;
    }
    if (!is_json_object(context.arguments))
        return fmt::format("the arguments of {} are not a JSON object", context.tool);
    return {};
}

ToolReturn error_return(const ToolContext& context, std::string text) {
    return {{context.call_id, context.tool, {{.kind = PartKind::text, .text = std::move(text)}}, true}, {}};
}

ToolReturn failed_return(const ToolContext& context, CollectingSink& sink, std::string text) {
    ToolReturn failed = collect_tool_return(context, sink, {.is_error = true});
    failed.result.parts.push_back({.kind = PartKind::text, .text = std::move(text)});
    return failed;
}

void add_offered(std::vector<Tool>& tools, std::vector<Tool> offered, const LoopConfig& config) {
    std::erase_if(offered, [&](const Tool& tool) {
        return (tool.name == read_offloaded_name && !config.offer_read_offloaded) ||
               (tool.name == fetch_media_name && !config.offer_fetch_media);
    });
    add_missing(tools, std::move(offered));
}

ModelError overflow_error(const ModelError& error, std::int64_t window, std::int64_t tokens_before,
                          std::int64_t tokens_after) {
    const auto or_unknown = [](std::int64_t tokens) {
        return tokens > 0 ? fmt::format("{} tokens", tokens) : std::string("an unknown number of tokens");
    };
    return {
        error.overflow(),
        fmt::format("send the request: it is too large: the provider counts {} and takes {}; our count is {} tokens "
                    "after shrinking, {} before; the provider said: {}",
                    or_unknown(error.overflow().requested_tokens), or_unknown(window), tokens_after, tokens_before,
                    error.what())};
}

void add_usage(Usage& sum, const std::optional<Usage>& usage) noexcept {
    if (usage) sum += *usage;
}

bool is_far_below(const Usage& usage, std::int64_t counted) noexcept {
    constexpr std::int64_t smallest = 2'000;
    const std::int64_t billed = usage.total() - usage.output;
    return counted >= smallest && billed > 0 && billed < counted / 2;
}

Overflow believed(Overflow overflow) noexcept {
    constexpr std::int64_t smallest = 256;
    return overflow.context_limit_tokens > 0 && overflow.context_limit_tokens < smallest ? Overflow{} : overflow;
}

void emit_truncation(const EventSink& events, std::string_view conversation, std::int64_t counted,
                     const Usage& usage) noexcept {
    emit(events, {.level = Event::Level::warning,
                  .source = "loop",
                  .kind = "silent_truncation",
                  .text = "the provider billed less than half of the request: it must have cut it without a word",
                  .conversation = conversation,
                  .tokens_before = counted,
                  .tokens_after = usage.total() - usage.output});
}

}  // namespace detail

}  // namespace whittle::inline v0
