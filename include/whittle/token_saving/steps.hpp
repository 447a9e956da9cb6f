#pragma once

#include "whittle/chain/conversation.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// One step of an agent: an assistant message, or one of its tool calls if it has several.
struct Step {
    std::int64_t step_index = 0;
    std::string action{};        ///< tool name; empty: the message calls none
    std::string action_input{};  ///< raw JSON object; empty without a call
    std::string thought{};       ///< text of the message
    std::string observation{};   ///< text of the call's result as the conversation shows it; empty: none
    bool is_error = false;
    bool is_shortened = false;  ///< the observation is not what the tool gave
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

/// Takes a message apart into steps; results find theirs by the unique name of their call.
class StepBuilder {
public:
    void begin_message() { message_first_ = steps_.size(), thought_.clear(); }
    void add(const PartView& part, const PartInfo& info, const Mark& mark, Role role);
    void end_message(Role role);
    [[nodiscard]] std::vector<Step> take() { return std::move(steps_); }

private:
    void add_result(const PartView& part, const PartInfo& info, const Mark& mark);

    std::vector<Step> steps_{};
    std::unordered_map<SharedString, std::size_t> by_name_{};
    std::size_t message_first_ = 0;
    std::string thought_{};
};

/// Index of the first reply that is behind the newest message that starts a turn, and came when there were at least
/// `model_calls` replies; the size if there is none.
[[nodiscard]] std::size_t first_reply_since(const Outline& outline, int model_calls) noexcept;

/// The steps of the messages from index `first` on.
template <AgentMessage M>
[[nodiscard]] std::vector<Step> steps_from(const Conversation<M>& conversation, std::size_t first) {
    StepBuilder builder;
    const Outline outline = conversation.outline();
    for (std::size_t i = first; i < outline.size(); ++i) {
        const MessageInfo& info = outline[i];
        builder.begin_message();
        std::size_t p = 0;
        message_traits<M>::for_each_part(conversation.messages()[i], [&](const PartView& part) {
            builder.add(part, info.parts[p], mark_of(info, p), info.role);
            ++p;
        });
        builder.end_message(info.role);
    }
    return builder.take();
}

}  // namespace detail

/// The steps of a conversation, oldest first. Results are matched by call id. O(size of the conversation).
template <AgentMessage M>
[[nodiscard]] std::vector<Step> build_steps_from_messages(const Conversation<M>& conversation) {
    return detail::steps_from(conversation, 0);
}

}  // namespace whittle::inline v0
