#pragma once

#include "whittle/base/clock.hpp"
#include "whittle/base/detail/backoff.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/platform.hpp"
#include "whittle/base/random.hpp"
#include "whittle/model/detail/model_message.hpp"
#include "whittle/model/detail/restart.hpp"
#include "whittle/model/model.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace whittle::inline v0 {

/// More attempts of a model call that failed for a reason that may pass.
struct RetryModelConfig {
    int max_retries = 3;  ///< beside the first attempt; 0: none
    /// Longest pause. A provider that asks for more is not asked again: its error goes to the caller at once.
    std::chrono::milliseconds max_wait{60'000};
    /// From the start of `generate`: no attempt begins later. 0: none. An attempt that runs is ended by its own limits.
    std::chrono::milliseconds deadline{300'000};

    friend bool operator==(const RetryModelConfig&, const RetryModelConfig&) = default;
};

/// A failed attempt that is followed by another. Valid during the call.
struct RetryNotice {
    std::string_view purpose{};        ///< of the request (`ModelRequest::purpose`)
    StopToken stop{};                  ///< of the request
    int failed_attempt = 1;            ///< the failed one, from 1
    std::chrono::milliseconds wait{};  ///< until the next attempt
    const ModelError& error;           ///< what the attempt threw
};

/// What a host may watch. Called on the thread of the call.
struct RetryModelCallbacks {
    /// Before each pause. What it throws ends the call.
    std::function<void(const RetryNotice&)> on_retry{};
    /// The failed attempt had already streamed pieces of a reply: the caller discards them here, then the next attempt
    /// begins. Absent: such a failure is not retried, since the pieces would come twice.
    std::function<void()> on_stream_restart{};
};

/// What retries work with. Tests give their own.
struct RetryEnvironment {
    std::shared_ptr<Clock> clock = system_clock();     ///< waits between attempts
    std::shared_ptr<Random> random = system_random();  ///< of the jitter
};

/// rate_limit, server and transport: the same request may succeed later.
[[nodiscard]] bool is_retryable(ModelErrorClass error_class) noexcept;

/// How long to wait after attempt `attempt` (from 1) failed: `default_backoff`, or what the provider asks for if that
/// is more. Absent: no other attempt, for the class is not retryable, the attempts are used up, or the wait is above
/// `max_wait` or would end behind the deadline. `elapsed`: since the first attempt began.
[[nodiscard]] std::optional<std::chrono::milliseconds> plan_retry(const ModelError& error, int attempt,
                                                                  std::chrono::milliseconds elapsed,
                                                                  const RetryModelConfig& config, Random& random);

/// Adds every bad field to `problems`, each under "{name}.".
void check_retry_model(const RetryModelConfig& config, std::string_view name, Problems& problems);

namespace detail {

template <AgentMessage M>
class RetryModel final : public Model<M> {
public:
    RetryModel(std::shared_ptr<Model<M>> model, RetryModelConfig config, RetryModelCallbacks callbacks,
               RetryEnvironment environment)
        : model_(std::move(model)),
          config_(config),
          callbacks_(std::move(callbacks)),
          environment_(std::move(environment)) {}

    Reply<M> generate(const ModelRequest<M>& request) override {
        Attempts<M> attempts(request, callbacks_.on_stream_restart);
        const UnixMillis started = environment_.clock->now();
        for (int number = 1;; ++number) {
            attempts.require_running();
            try {
                return attempts.ask(*model_);
            } catch (const ModelError& error) {
                attempts.require_running();
                const std::chrono::milliseconds elapsed(environment_.clock->now() - started);
                const auto wait = plan_retry(error, number, elapsed, config_, *environment_.random);
                if (!wait || !attempts.may_restart()) throw;
                if (callbacks_.on_retry) callbacks_.on_retry({request.purpose, request.stop, number, *wait, error});
                environment_.clock->sleep_for(*wait, request.stop);
            }
            attempts.require_running();
            attempts.restart();
        }
    }

private:
    std::shared_ptr<Model<M>> model_;
    RetryModelConfig config_;
    RetryModelCallbacks callbacks_;
    RetryEnvironment environment_;
};

}  // namespace detail

/// `model`, asked again after a failure of a retryable class, with growing pauses that obey the provider's
/// `Retry-After`. The last attempt's error goes to the caller as it is; a stop during a pause gives class cancelled.
/// Thread-safe if `model`, the callbacks and the environment are. Throws `Error(invalid_config)`.
template <AgentMessage M>
[[nodiscard]] std::shared_ptr<Model<M>> with_retry(std::shared_ptr<Model<M>> model, RetryModelConfig config = {},
                                                   RetryModelCallbacks callbacks = {},
                                                   RetryEnvironment environment = {}) {
    if (!model || !environment.clock || !environment.random)
        throw Error(Errc::invalid_argument, "add retry to a model: no model, no clock or no random source");
    Problems problems;
    check_retry_model(config, "retry", problems);
    problems.throw_if_errors("add retry to a model");
    return std::make_shared<detail::RetryModel<M>>(std::move(model), config, std::move(callbacks),
                                                   std::move(environment));
}

/// Takes a pointer to a host's own model class, which says the message type.
template <typename T>
[[nodiscard]] std::shared_ptr<Model<detail::ModelMessage<T>>> with_retry(std::shared_ptr<T> model,
                                                                         RetryModelConfig config = {},
                                                                         RetryModelCallbacks callbacks = {},
                                                                         RetryEnvironment environment = {}) {
    return with_retry(std::shared_ptr<Model<detail::ModelMessage<T>>>(std::move(model)), config, std::move(callbacks),
                      std::move(environment));
}

}  // namespace whittle::inline v0
