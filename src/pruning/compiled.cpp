// Over ChatMessage, once for every program: base/detail/compiled_types.hpp.
#include "whittle/pruning/pruning.hpp"

namespace whittle::inline v0 {

template class Pruning<ChatMessage>;

#undef WHITTLE_DEFINES_PRUNING

}  // namespace whittle::inline v0
