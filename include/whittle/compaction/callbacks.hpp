#pragma once

#include "whittle/digest/attempt.hpp"
#include "whittle/message/chat_message.hpp"

namespace whittle::inline v0 {

/// What takes a message type. Each replaces the built-in answer.
template <AgentMessage M = ChatMessage>
struct CompactionCallbacks {
    RetryCallbacks<M> retry{};        ///< default: `is_worth_a_retry`, half a second apart
    FailoverCallbacks<M> failover{};  ///< used if `failover` is configured
};

namespace detail {

/// `CompactionCallbacks` as braces write it: names the member that a function does not fit.
template <AgentMessage M>
struct CompactionBraces {
    RetryBraces<M> retry{};
    FailoverBraces<M> failover{};

    [[nodiscard]] CompactionCallbacks<M> take() { return {.retry = retry.take(), .failover = failover.take()}; }
};

}  // namespace detail

/// Whether another attempt with the same model can help: not after a refused key, a bad request or a model's refusal.
[[nodiscard]] bool is_worth_a_retry(const DigestError& error) noexcept;

}  // namespace whittle::inline v0
