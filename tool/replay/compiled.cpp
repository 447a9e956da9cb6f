// Over ChatMessage, once for every program: base/detail/compiled_types.hpp.
#include "whittle/replay/replay.hpp"

namespace whittle::inline v0 {

template class detail::Replayer<ChatMessage>;

}  // namespace whittle::inline v0
