#pragma once

#include "whittle/chain/chain.hpp"
#include "whittle/replay/pieces.hpp"
#include "whittle/replay/totals.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// A recorded session of an agent. A view: nothing is owned.
template <AgentMessage M = ChatMessage>
struct Recording {
    std::string_view id{};
    std::string_view system{};  ///< beside the messages
    std::span<const ToolSpec> tools{};
    std::span<const M> messages{};
    std::span<const std::optional<double>> seconds{};  ///< when each message came, on any clock; empty if unknown
};

/// One model call of a replay. A view, valid only during the callback.
template <AgentMessage M = ChatMessage>
struct ReplayRequest {
    std::string_view trajectory{};
    std::int64_t call = 0;  ///< 0 is the one before the first recorded assistant message
    std::span<const M> messages{};
    std::int64_t tokens = 0;      ///< with system text and tools
    std::int64_t tokens_raw = 0;  ///< of the recording up to here
    /// Index of the first message that differs from the same place of the previous request; absent if that one is a
    /// prefix of this, and for call 0.
    std::optional<std::size_t> first_changed{};
    std::size_t keep = 0;  ///< messages at the front that the previous request had too
    const Conversation<M>& conversation;
};

template <AgentMessage M = ChatMessage>
struct ReplayOptions {
    std::function<void(const ReplayRequest<M>&)> on_request{};  ///< what it throws ends the replay
    std::stop_token stop{};
    /// After the replay, before anything is undone: the conversation as the chain left it.
    std::function<void(const Conversation<M>&)> on_end{};
};

/// Runs a recording through a chain as an agent loop would: user messages start turns, the chain runs before and after
/// each recorded assistant message, which stands for the model's reply, and each recorded tool result goes through the
/// chain's tool wraps. What no middleware touches goes in as it was recorded. Usage that the provider billed is not
/// used: triggers judge the chain's own count. At the end every commit is undone, and the result compared with the
/// recording. Throws Error(cancelled) when stopped, and what the chain throws under OnError::propagate.
template <ToolMessage M>
[[nodiscard]] ReplayTotals replay(const Recording<M>& recording, const Chain<M>& chain,
                                  const ReplayOptions<M>& options = {});

}  // namespace whittle::inline v0

#include "whittle/replay/replay_impl.hpp"
