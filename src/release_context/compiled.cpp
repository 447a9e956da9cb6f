// Over ChatMessage, once for every program: base/detail/compiled_types.hpp.
#include "whittle/release_context/release_context.hpp"

namespace whittle::inline v0 {

template class ReleaseContext<ChatMessage>;

}  // namespace whittle::inline v0
