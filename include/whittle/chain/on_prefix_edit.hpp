#pragma once

#include "whittle/base/version.hpp"

namespace whittle::inline v0 {

/// What is done about thinking that a provider binds to everything in front of it, when something in front is edited.
enum class OnPrefixEdit {
    mark,  ///< keep it, and ask the provider to pass over it: `ModelRequest::prefix_edited`
    drop,  ///< take it out in the same commit, as far as the validity profile allows; what has to stay is marked
};

}  // namespace whittle::inline v0
