#include "whittle/summary/config.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/base/text.hpp"
#include "whittle/fields/detail/check_numbers.hpp"
#include "whittle/summary/detail/summary_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace whittle::inline v0 {
namespace {

void check_options(const GenerateOptions& options, FieldCheck& check) {
    check.at_least(options.max_output_tokens, 0, "model_options.max_output_tokens");
    const double temperature = options.temperature.value_or(0.0);
    check.error(!std::isfinite(temperature) || temperature < 0.0, "model_options.temperature",
                fmt::format("{}", temperature), "a number of 0 or more");
    check.error(!options.extra.empty() && !is_json_object(options.extra), "model_options.extra", options.extra,
                "one JSON object, or empty");
}

}  // namespace

std::int64_t summary_input_bound(std::int64_t max_input_tokens, std::int64_t window,
                                 std::int64_t reply_tokens) noexcept {
    if (max_input_tokens > 0) return max_input_tokens;
    if (window <= 0) return default_summary_input_tokens;
    const std::int64_t room = sub_saturating(window, reply_tokens);
    return room > 0 ? room : std::max<std::int64_t>(1, window / 2);
}

std::vector<std::string> default_subagent_tools() {
    return {"task", "agent", "dispatch_agent", "delegate_task", "delegate_to_agent", "run_subagent", "new_task"};
}

void check_preserve_work(const PreserveWorkConfig& config, std::string_view name, Problems& problems) {
    FieldCheck check(name, problems);
    detail::check_numbers(config, detail::preserve_work_fields(), check);
    check.tool_names(config.plan_tools, "plan_tools");
    check.tool_names(config.subagent_tools, "subagent_tools");
}

void detail::warn_of_other_summarizers(std::size_t others, std::string_view key, FieldCheck& check) {
    check.warn(others > 0, key, fmt::format("beside {} other summarizer{}", others, others == 1 ? "" : "s"),
               "one summarizer in a chain: of two with overlapping triggers the lower one always comes first");
}

void check_summary_generation(const SummaryGenerationConfig& config, std::string_view name, Problems& problems) {
    FieldCheck check(name, problems);
    check_options(config.model_options, check);
    check.at_least(config.max_input_tokens, 0, "max_input_tokens");
    check.at_least(config.max_summary_tokens, 0, "max_summary_tokens");
    check.at_least(config.max_tool_result_bytes, 0, "max_tool_result_bytes");
    for (const std::string& section : config.required_sections)
        check.error(is_blank(section), "required_sections", "a blank heading", "words of a heading");
    if (config.retry) check.at_least(config.retry->max_retries, 0, "retry.max_retries");
    if (config.failover) check.at_least(config.failover->max_retries, 0, "failover.max_retries");
}

}  // namespace whittle::inline v0
