#pragma once

#include "whittle/conversation/conversation.hpp"
#include "whittle/message/detail/visit_parts.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace whittle::inline v0 {

/// One step of an agent: an assistant message, or one of its tool calls if it has several.
struct Step {
    std::int64_t step_index = 0;  ///< its number in the conversation, from 0
    std::string action{};         ///< tool name; empty: the message calls none
    std::string action_input{};   ///< raw JSON object; empty without a call
    std::string thought{};        ///< text of the message
    std::string observation{};    ///< text of the call's result as the conversation shows it; empty: none
    bool is_error = false;        ///< the call failed
    bool is_shortened = false;    ///< the observation is not what the tool gave
};

/// Values by name, each in [0, 1].
using Signals = std::map<std::string, double, std::less<>>;

/// Judges a trajectory. Called from the thread of the hook; from several at once if the chain serves several
/// conversations.
using SignalsFunction = std::function<Signals(std::span<const Step>)>;

/// Deterministic signals by arguments and observations, not by the tool's name alone; docs/token_saving.md defines
/// "streak", "diversity", "hedge", "call_count", "edit_revert" and "test_repeat". O(size of the steps).
[[nodiscard]] Signals trajectory_signals(std::span<const Step> steps);

/// Whether signals ask for an early exit: streak > 0.7, or hedge > 0.6 and diversity > 0.5. A missing value and NaN are
/// 0, others are clamped to [0, 1].
[[nodiscard]] bool is_stuck(const Signals& signals);

namespace detail {

/// The steps of the messages from index `first` on.
[[nodiscard]] std::vector<Step> steps_from(const Outline& outline, std::size_t first, VisitParts visit_parts);

}  // namespace detail

/// The steps of a conversation, oldest first. Results are matched by call id. O(size of the conversation).
template <AgentMessage M>
[[nodiscard]] std::vector<Step> build_steps_from_messages(const Conversation<M>& conversation) {
    return detail::steps_from(conversation.outline(), 0, detail::part_visitor<M>(conversation.messages()));
}
/// The same of a plain list. Makes a conversation of it: a copy of the messages.
template <AgentMessage M>
[[nodiscard]] std::vector<Step> build_steps_from_messages(std::span<const M> messages) {
    Conversation<M> conversation("build_steps_from_messages");
    for (const M& message : messages) conversation.push_back(message);
    return build_steps_from_messages(conversation);
}

}  // namespace whittle::inline v0
