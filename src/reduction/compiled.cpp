// Over ChatMessage, once for every program: base/detail/compiled_types.hpp.
#include "whittle/reduction/condensing.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/reduction/trimming.hpp"

namespace whittle::inline v0 {

template class Reduction<ChatMessage>;
template class Trimming<ChatMessage>;
template class Condensing<ChatMessage>;

}  // namespace whittle::inline v0
