// Over ChatMessage, once for every program: base/detail/compiled_types.hpp.
#include "whittle/compaction/compaction.hpp"

namespace whittle::inline v0 {

template class Compaction<ChatMessage>;

#undef WHITTLE_DEFINES_COMPACTION

}  // namespace whittle::inline v0
