#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/message/detail/message_view.hpp"
#include "whittle/message/traits.hpp"

#include <cstddef>

namespace whittle::inline v0::detail {

/// Calls `visit` for each part of message `i` of a list, in order.
using VisitParts = FunctionRef<void(std::size_t i, FunctionRef<void(const PartView&)> visit)>;

/// A `VisitParts` of these messages.
template <AgentMessage M>
[[nodiscard]] auto part_visitor(MessageView<M> messages) {
    return [messages](std::size_t i, FunctionRef<void(const PartView&)> visit) {
        message_traits<M>::for_each_part(messages[i], visit);
    };
}

}  // namespace whittle::inline v0::detail
