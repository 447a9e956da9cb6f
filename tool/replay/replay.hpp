#pragma once

#include "replay/detail/pieces.hpp"
#include "replay/detail/prefix_cache.hpp"
#include "whittle/base/clock.hpp"
#include "whittle/base/platform.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/chain/config.hpp"
#include "whittle/message/validity.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// Sums over the requests of a replay, by the definitions of tool/docs/cost.md. All counts are tokens unless they
/// say otherwise.
struct RequestTotals {
    std::int64_t input = 0;
    std::int64_t peak = 0;  ///< of one request
    std::int64_t cached = 0;
    std::int64_t written = 0;
    std::int64_t uncached = 0;
    std::int64_t invalidated = 0;
    std::int64_t resets = 0;       ///< calls
    std::int64_t over_window = 0;  ///< calls with a larger input than the profile's window
    double input_cost = 0;         ///< tokens at the plain input price

    void add(const CacheAccount& account, const ModelProfile& profile) noexcept;
    RequestTotals& operator+=(const RequestTotals& other) noexcept;
    /// cached / input; 0 without input.
    [[nodiscard]] double hit_rate() const noexcept;
};

/// A rule that a request breaks and the recording up to there does not.
struct ReplayViolation {
    std::string trajectory{};
    std::int64_t call = 0;  ///< the first one
    Violation violation{};
};

/// What a chain made of one recording, or of several.
struct ReplayTotals {
    std::int64_t trajectories = 0;
    std::int64_t calls = 0;   ///< of the model
    std::int64_t output = 0;  ///< tokens of the recorded replies
    RequestTotals raw{};      ///< everything sent, as recorded
    RequestTotals sent{};     ///< as the chain leaves it

    std::int64_t side_calls = 0;   ///< of models by middlewares
    std::int64_t side_input = 0;   ///< tokens of these calls, where the model said what it was billed
    std::int64_t side_output = 0;  ///< tokens of their replies

    std::int64_t commits = 0;
    std::map<std::string, std::int64_t> edits{};  ///< messages edited or taken out, by reason
    std::int64_t bytes_stored = 0;
    std::int64_t changed_bytes = 0;   ///< text of the recorded messages that were not as recorded at the end
    std::int64_t restored_bytes = 0;  ///< of these, what undoing every commit brought back
    std::int64_t not_undone = 0;      ///< trajectories that undoing did not make byte-identical to the recording
    std::int64_t failed_hooks = 0;    ///< hook runs of a middleware that failed
    std::int64_t failed_writes = 0;   ///< of the store
    std::vector<ReplayViolation> violations{};
    std::vector<std::string> errors{};  ///< why hooks, writes or undoing failed; at most 20

    ReplayTotals& operator+=(const ReplayTotals& other);
    /// restored_bytes / changed_bytes; 1 if nothing was changed.
    [[nodiscard]] double restorable() const noexcept;
    void add_error(std::string text);
};

/// Money for the input of `requests` and `output` tokens, in the currency of `prices`. The input price is multiplied by
/// the factors of the cache profile that made the totals; `prices.cache_read` and `cache_write` are not looked at.
[[nodiscard]] double money(const RequestTotals& requests, std::int64_t output, const PricesPerMillion& prices) noexcept;

/// Money for what the chain sent, calls of models by middlewares included; these read no cache.
[[nodiscard]] double money_sent(const ReplayTotals& totals, const PricesPerMillion& prices) noexcept;

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
    /// The recording up to here, as it was recorded, under the serials that its messages have in `conversation`; a
    /// serial that is not there any more was folded or removed.
    std::span<const MessageInfo> recorded{};
    CacheAccount account{};  ///< what the profile's prompt cache makes of it
};

template <AgentMessage M = ChatMessage>
struct ReplayOptions {
    std::function<void(const ReplayRequest<M>&)> on_request{};  ///< what it throws ends the replay
    StopToken stop{};
    /// The chain's clock, to follow the recording: it stands at the time of the newest message. Null: it does not.
    std::shared_ptr<ManualClock> clock{};
    /// After the replay, before anything is undone: the conversation as the chain left it.
    std::function<void(const Conversation<M>&)> on_end{};
    /// After each hook: what the middlewares did and why; before `on_request` for the hooks in front of that call.
    std::function<void(const Report&)> on_report{};
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

#include "replay/detail/replay.hpp"
