// How a generated history becomes one of a message type.
#pragma once

namespace whittle::testing {

template <typename T>
struct Type {
    using type = T;
};

/// A message type's name in test output, and the messages that a neutral one becomes.
template <typename M>
struct Builder;

}  // namespace whittle::testing
