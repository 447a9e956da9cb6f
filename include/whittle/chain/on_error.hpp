#pragma once

#include "whittle/base/version.hpp"

namespace whittle::inline v0 {

/// What becomes of a middleware's failure.
enum class OnError {
    skip,       ///< the middleware's work of this hook is undone and reported; the chain goes on
    propagate,  ///< the whole hook is undone, then the error is thrown
};

}  // namespace whittle::inline v0
