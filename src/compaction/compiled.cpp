// Over ChatMessage, once for every program: base/detail/compiled_types.hpp.
#include "whittle/compaction/compaction.hpp"
#include "whittle/compaction/pruning.hpp"

namespace whittle::inline v0 {

template class Pruning<ChatMessage>;
template class ReleaseContext<ChatMessage>;
template class Compaction<ChatMessage>;

}  // namespace whittle::inline v0
