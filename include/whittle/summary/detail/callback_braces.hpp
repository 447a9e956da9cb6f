#pragma once

// The callbacks of retry and failover as braces write them; included by attempt.hpp.

#include "whittle/base/detail/callback_slot.hpp"
#include "whittle/summary/detail/attempt.hpp"

namespace whittle::inline v0 {
namespace detail {

namespace retry_callback {
struct should_retry;
struct backoff;
}  // namespace retry_callback

/// `RetryCallbacks` with the same members in the same order: names the member that a function does not fit.
template <AgentMessage M>
struct RetryBraces {
    using Callbacks = RetryCallbacks<M>;

    CallbackSlot<retry_callback::should_retry, decltype(Callbacks::should_retry)> should_retry{};
    CallbackSlot<retry_callback::backoff, decltype(Callbacks::backoff)> backoff{};

    [[nodiscard]] Callbacks take() { return {.should_retry = should_retry.take(), .backoff = backoff.take()}; }
};

namespace failover_callback {
struct should_failover;
struct backoff;
struct get_failover_model;
}  // namespace failover_callback

/// `FailoverCallbacks` with the same members in the same order: names the member that a function does not fit.
template <AgentMessage M>
struct FailoverBraces {
    using Callbacks = FailoverCallbacks<M>;

    CallbackSlot<failover_callback::should_failover, decltype(Callbacks::should_failover)> should_failover{};
    CallbackSlot<failover_callback::backoff, decltype(Callbacks::backoff)> backoff{};
    CallbackSlot<failover_callback::get_failover_model, decltype(Callbacks::get_failover_model)> get_failover_model{};

    [[nodiscard]] Callbacks take() {
        return {.should_failover = should_failover.take(),
                .backoff = backoff.take(),
                .get_failover_model = get_failover_model.take()};
    }
};

}  // namespace detail

template <AgentMessage M>
RetryCallbacks<M>::operator detail::RetryBraces<M>() const {
    return {.should_retry = should_retry, .backoff = backoff};
}

template <AgentMessage M>
FailoverCallbacks<M>::operator detail::FailoverBraces<M>() const {
    return {.should_failover = should_failover, .backoff = backoff, .get_failover_model = get_failover_model};
}

}  // namespace whittle::inline v0
