#include "whittle/model/retry_model.hpp"

#include "whittle/model/failover_model.hpp"

#include "whittle/base/detail/field_check.hpp"

namespace whittle::inline v0 {

using std::chrono::milliseconds;

bool is_retryable(ModelErrorClass error_class) noexcept {
    return error_class == ModelErrorClass::rate_limit || error_class == ModelErrorClass::server ||
           error_class == ModelErrorClass::transport;
}

bool may_fail_over(ModelErrorClass error_class) noexcept {
    return is_retryable(error_class) || error_class == ModelErrorClass::auth;
}

std::optional<milliseconds> plan_retry(const ModelError& error, int attempt, milliseconds elapsed,
                                       const RetryModelConfig& config, Random& random) {
    if (!is_retryable(error.error_class()) || attempt > config.max_retries) return std::nullopt;
    const milliseconds asked = error.retry_after().value_or(milliseconds::zero());
    if (asked > config.max_wait) return std::nullopt;
    const milliseconds wait = std::max(asked, std::min(default_backoff(attempt, random), config.max_wait));
    const bool is_too_late = config.deadline.count() > 0 && elapsed > config.deadline - wait;
    return is_too_late ? std::nullopt : std::optional(wait);
}

void check_retry_model(const RetryModelConfig& config, std::string_view name, Problems& problems) {
    FieldCheck check(name, problems);
    check.at_least(config.max_retries, 0, "max_retries");
    check.at_least(config.max_wait.count(), 0, "max_wait");
    check.at_least(config.deadline.count(), 0, "deadline");
}

}  // namespace whittle::inline v0
