#pragma once

#include "entries.hpp"

#include <cstddef>
#include <vector>

namespace whittle::inline v0::logs {

/// A message by its place in the log.
struct SentMessage {
    std::size_t message = 0;
    std::size_t with = 0;  ///< the one that came last of those it had to wait for; itself, if it had not
};

/// In which order OpenHands V0 sends chat messages: a reply once each of its calls has a result, and these behind it.
/// Calls and results that stay alone are not sent. With `and_open`, a reply that nothing but results follows ends the
/// order, whether it has all of them or not.
[[nodiscard]] std::vector<SentMessage> order_sent(const std::vector<const ordered_json*>& messages, bool and_open);

}  // namespace whittle::inline v0::logs
