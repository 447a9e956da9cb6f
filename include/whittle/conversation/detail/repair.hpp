#pragma once

#include "whittle/conversation/transaction.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace whittle::inline v0 {

/// What a repair came to.
struct RepairResult {
    Outcome outcome = Outcome::not_due;          ///< not_due: no rule is broken; nothing: none that can be mended
    std::vector<Repair> repairs{};               ///< what was mended, by message and part; in a dry run what would be
    std::vector<Violation> remaining{};          ///< what is still broken
    std::int64_t tokens_before = 0;              ///< of the messages, by the environment's counter
    std::int64_t tokens_after = 0;               ///< the same afterwards
    std::optional<std::size_t> first_changed{};  ///< index of the first message that differs; absent: none does

    /// Whether the conversation changed.
    [[nodiscard]] bool committed() const noexcept { return outcome == Outcome::committed; }
};

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
    return Transaction<M>(*this, std::string(detail::repair_name), environment).repair(profile, options);
}

}  // namespace whittle::inline v0
