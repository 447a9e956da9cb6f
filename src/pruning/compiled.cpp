// Over ChatMessage, once for every program: base/detail/compiled_types.hpp.
#include "whittle/pruning/pruning.hpp"

namespace whittle::inline v0 {

template class Pruning<ChatMessage>;

}  // namespace whittle::inline v0
