#include "whittle/digest/config.hpp"

#include "whittle/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace whittle::inline v0 {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t first_pause = 1'000;
constexpr std::int64_t longest_pause = 10'000;
constexpr int attempts_until_longest = 8;

void at_least(std::int64_t value, std::int64_t lowest, std::string_view name, std::string_view field,
              Problems& problems) {
    if (value >= lowest) return;
    problems.error(fmt::format("{}.{}", name, field), std::to_string(value), fmt::format("{} or more", lowest));
}

void check_options(const GenerateOptions& options, std::string_view name, Problems& problems) {
    at_least(options.max_output_tokens, 0, name, "model_options.max_output_tokens", problems);
    if (options.temperature && (!std::isfinite(*options.temperature) || *options.temperature < 0.0)) {
        problems.error(fmt::format("{}.model_options.temperature", name), fmt::format("{}", *options.temperature),
                       "a number of 0 or more");
    }
    if (!options.extra.empty() && !is_json_object(options.extra))
        problems.error(fmt::format("{}.model_options.extra", name), options.extra, "one JSON object, or empty");
}

}  // namespace

void check_digest(const DigestConfig& config, std::string_view name, Problems& problems) {
    check_options(config.model_options, name, problems);
    at_least(config.max_input_tokens, 0, name, "max_input_tokens", problems);
    at_least(config.max_summary_tokens, 0, name, "max_summary_tokens", problems);
    at_least(config.max_reply_bytes, 1, name, "max_reply_bytes", problems);
    at_least(config.max_tool_result_bytes, 0, name, "max_tool_result_bytes", problems);
    if (config.retry) at_least(config.retry->max_retries, 0, name, "retry.max_retries", problems);
    if (config.failover) at_least(config.failover->max_retries, 0, name, "failover.max_retries", problems);
}

milliseconds default_backoff(int attempt, Random& random) {
    if (attempt <= 0) return milliseconds(first_pause);
    const std::int64_t doubled = first_pause << (std::min(attempt, attempts_until_longest) - 1);
    const std::int64_t pause = std::min(doubled, longest_pause);
    return milliseconds(pause + static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(pause / 2)));
}

}  // namespace whittle::inline v0
