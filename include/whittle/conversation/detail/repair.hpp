#pragma once

#include "whittle/conversation/conversation.hpp"
#include "whittle/conversation/detail/conversation_port.hpp"
#include "whittle/conversation/detail/edit_environment.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace whittle::inline v0 {

/// What a repair came to.
struct RepairResult {
    Outcome outcome = Outcome::undue;  ///< undue: no rule is broken; nothing: none that can be mended
    std::vector<Repair> repairs{};
    std::vector<Violation> remaining{};  ///< what is still broken
    std::int64_t tokens_before = 0;      ///< of the messages, by the environment's counter
    std::int64_t tokens_after = 0;
    std::optional<std::size_t> first_changed{};

    [[nodiscard]] bool committed() const noexcept { return outcome == Outcome::committed; }
};

namespace detail {

/// `Conversation::repair` of the conversation with that table and port. `column`: of the environment's counter.
[[nodiscard]] RepairResult mend(SideTable& side, MessagePort& port, std::size_t column, const ValidityProfile& profile,
                                const RepairOptions& options, const EditEnvironment& environment);

}  // namespace detail

template <AgentMessage M>
RepairResult Conversation<M>::repair(const ValidityProfile& profile, const RepairOptions& options) {
    return repair(profile, options, EditEnvironment{});
}

template <AgentMessage M>
RepairResult Conversation<M>::repair(const ValidityProfile& profile, const RepairOptions& options,
                                     const EditEnvironment& environment) {
    require_outside_hook("repair");
    if (size() == 0) return {.remaining = validate(outline(), profile)};
    return mend(profile, options, environment);
}

template <AgentMessage M>
RepairResult Conversation<M>::mend(const ValidityProfile& profile, const RepairOptions& options,
                                   const EditEnvironment& environment) {
    detail::ConversationPort<M> port(*this);
    return detail::mend(side_, port, column(environment.counter), profile, options, environment);
}

}  // namespace whittle::inline v0
