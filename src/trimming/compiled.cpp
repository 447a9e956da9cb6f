// Over ChatMessage, once for every program: base/detail/compiled_types.hpp.
#include "whittle/trimming/trimming.hpp"

namespace whittle::inline v0 {

template class Trimming<ChatMessage>;

#undef WHITTLE_DEFINES_TRIMMING

}  // namespace whittle::inline v0
