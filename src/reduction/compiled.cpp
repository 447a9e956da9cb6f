// Over ChatMessage, once for every program: base/detail/compiled_types.hpp.
#include "whittle/reduction/reduction.hpp"

namespace whittle::inline v0 {

template class Reduction<ChatMessage>;

#undef WHITTLE_DEFINES_REDUCTION

}  // namespace whittle::inline v0
