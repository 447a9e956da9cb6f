#pragma once

#include "whittle/base/detail/saturating.hpp"
#include "whittle/chain/hook_turn.hpp"
#include "whittle/conversation/draft.hpp"
#include "whittle/summary/detail/outcome.hpp"
#include "whittle/tokens/detail/usage_fit.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// Which messages a summary will stand for, and why the others stay.
struct FoldedMessages {
    std::vector<std::size_t> folded{};      ///< indices, ascending
    std::vector<std::string_view> rules{};  ///< for each message: "fold", or the id of the rule that keeps it
    std::int64_t folded_tokens = 0;
    bool has_only_summaries = true;  ///< nothing new is among the folded messages
};

/// The sizes that a fold is judged by. Triggers judge requests in the provider's tokens, plans count messages in ours:
/// `scale` is between the two.
struct FoldSizes {
    std::int64_t context_tokens = 0;    ///< of the whole request, as triggers judge it
    std::int64_t system_and_tools = 0;  ///< of system text and tools, counted
    std::int64_t trigger_tokens = 0;    ///< what the request should come below; 0: no such limit
    std::int64_t wanted_tokens = 0;     ///< by the host, where that is less than the trigger; 0: as the trigger
    std::int64_t limit_messages = 0;    ///< 0: no limit
    TokenScale scale{};

    /// Takes over what was counted; `context_tokens` is set.
    void count(const ContextCount& counted) noexcept {
        system_and_tools = counted.beside;
        scale = counted.scale_to(context_tokens);
    }
    /// Tokens of messages that a request of `limit` tokens has room for beside overhead that nobody can name.
    [[nodiscard]] std::int64_t counted_without_overhead(std::int64_t limit) const noexcept {
        return scale.to_counted(limit - (std::min)(limit, scale.overhead));
    }
    /// Of the request, after messages of that count are gone.
    [[nodiscard]] std::int64_t context_without(std::int64_t counted) const noexcept {
        return sub_saturating(context_tokens, scale.to_request(counted));
    }
};

namespace detail {

class PreparedSummary;

/// What asks a model, and the functions of the host that take or give messages, for one summary. An empty function is
/// absent. Valid during the hook.
struct SummaryFunctions {
    /// Asks the model about messages of the draft. Empty: there is no model.
    std::function<SummaryGenerationOutcome(const SummaryOrder&, SummaryGenerationState&)> generate{};
    /// Has such a summary made on the host's executor. Empty: none can be made ahead of need.
    std::function<void(const SummaryOrder&, std::shared_ptr<PreparedSummary>)> prepare{};
    /// What has to be written before these messages are folded: a transcript, a memory of the host's.
    std::function<void(std::span<const std::size_t>)> record{};
    std::function<void()> on_due{};         ///< a summary is due; no model was asked yet
    std::function<void()> before_commit{};  ///< the messages are still those that the summary replaces
    std::function<void()> on_done{};        ///< the summary stands
};

/// What one summary works with. A view.
struct SummaryWork {
    HookTurn& turn;
    Draft& edit;  ///< may hold edits of cheaper stages, which are committed with the summary
    const SummaryFunctions& functions;
    FoldSizes sizes{};
    std::int64_t cool_down = 1;                  ///< tokens that the request grows before the next attempt
    std::int64_t rule_based_summary_tokens = 0;  ///< of a summary by rule; 0: none
    bool is_thrown = false;                      ///< failures leave the hook as exceptions
    bool require_token_reduction = true;         ///< false: the host may make the list larger
    bool needs_all = false;                      ///< above the limit only where each of the limits is exceeded
    bool waits_near_trigger = true;              ///< a summary that leaves little room is followed by a cool-down too
};

/// The size that a request has to come below after an overflow, by the counter that makes it `tokens` now.
[[nodiscard]] std::int64_t trigger_after_overflow(const HookTurn& turn, std::int64_t tokens) noexcept;

/// Whether a request that starts no summary yet has come so near to the trigger that one should be made ahead of need.
/// `trigger`: 0: there is none; `fraction`: of it, 0: never.
[[nodiscard]] constexpr bool is_near_trigger(std::int64_t tokens, std::int64_t trigger, double fraction) noexcept {
    return fraction > 0.0 && trigger > 0 && static_cast<double>(tokens) > static_cast<double>(trigger) * fraction;
}

}  // namespace detail

}  // namespace whittle::inline v0
