#pragma once

#include "evaluation.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

/// What an agent's own requests were made of: where the tokens of a recorded session went.
namespace whittle::inline v0::evaluation {

/// A place from which on the recorded requests began with something else: the agent compacted by itself.
struct RecordedCut {
    std::size_t before = 0;       ///< the first message that came after it
    std::vector<Message> kept{};  ///< in place of all messages in front
};

/// The requests that the agent sent, by its own cuts, in their order. Without cuts, everything.
void requests_as_recorded(const Session& session, std::span<const RecordedCut> cuts, TakeRequest take);

/// Messages, their tokens (characters / 4), and these tokens again for each request that they stood in.
struct Spent {
    std::int64_t messages = 0;
    std::int64_t tokens = 0;
    std::int64_t sent = 0;

    Spent& operator+=(const Spent& other) noexcept;
};

/// Model calls since a message came: none, up to 10, up to 50, more.
inline constexpr std::size_t spending_ages = 4;

struct Spending {
    Spent all{};                           ///< system text and tools aside
    Spent users{};                         ///< what a person said
    Spent replies{};                       ///< of the model, with the arguments of its calls
    Spent kept{};                          ///< what the agent's own compactions put in place
    std::map<std::string, Spent> tools{};  ///< results, by the tool
    std::array<std::int64_t, spending_ages> sent_by_age{};
    Spent repeated{};  ///< results of 200 characters or more that had stood in an earlier result, word for word
    /// Results of 200 characters or more with names and numbers that were new, none of which a later reply has: what
    /// the model knew from them in other words is not seen.
    Spent unused{};

    Spending& operator+=(const Spending& other);
};

/// `uncounted`: calls, ascending, whose requests are left out of what was sent; a message that stood in no others is in
/// nothing.
[[nodiscard]] Spending spending_of(const Session& session, std::span<const RecordedCut> cuts,
                                   std::span<const std::size_t> uncounted = {});

}  // namespace whittle::inline v0::evaluation
