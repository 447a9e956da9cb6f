#pragma once

#include "whittle/message/traits.hpp"
#include "whittle/model/model.hpp"

namespace whittle::inline v0::detail {

/// The message type of a model, of a class that is derived from `Model<M>` too.
template <AgentMessage M>
M message_of(const Model<M>* model);
template <typename T>
using ModelMessage = decltype(message_of(static_cast<T*>(nullptr)));

}  // namespace whittle::inline v0::detail
