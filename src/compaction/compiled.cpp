// Over ChatMessage, once for every program: base/detail/compiled_types.hpp.
#include "whittle/compaction/compaction.hpp"

namespace whittle::inline v0 {

template class Compaction<ChatMessage>;

}  // namespace whittle::inline v0
